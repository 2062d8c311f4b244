extern "C" __global__ void saxpy_strided(int n, float a, const float *__restrict__ x, int x_len,
                                         float *__restrict__ y, int y_len)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

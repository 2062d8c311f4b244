extern "C" __global__ void saxpy(float *out, const float *__restrict__ x,
                                 const float *__restrict__ y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}

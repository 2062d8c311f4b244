extern "C" __global__ void stencil(float *out, const float *__restrict__ a, int rows, int columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
        int k = i * columns + j;
        float around = a[k - columns] + a[k + columns] + a[k - 1] + a[k + 1];
        out[k] = a[k] + 0.1f * (around - 4.0f * a[k]);
    }
}

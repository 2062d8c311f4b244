extern "C" __global__ void lu_step(double *a, int n, int columns, int step)
{
    int j = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int i = step + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + step] * a[step * n + j];
}

extern "C" __global__ void particle_deposit(const float *__restrict__ xs, int n,
                                            const float *__restrict__ ys, int ys_len,
                                            const float *__restrict__ charges, int charges_len,
                                            float *__restrict__ density, int ny, int nx)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    float x = xs[p], y = ys[p], q = charges[p];
    int i = (int)x, j = (int)y;
    float fx = x - i, fy = y - j;
    float *cell = density + j * nx + i;
    atomicAdd(cell, q * (1.0f - fx) * (1.0f - fy));
    atomicAdd(cell + 1, q * fx * (1.0f - fy));
    atomicAdd(cell + nx, q * (1.0f - fx) * fy);
    atomicAdd(cell + nx + 1, q * fx * fy);
}

extern "C" __global__ void jacobi(const double *__restrict__ u, int u_len,
                                  const double *__restrict__ source, int source_len,
                                  double *__restrict__ out, int out_len, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= ny - 1 || j < 1 || j >= nx - 1)
        return;
    int k = i * nx + j;
    out[k] = 0.25 * (u[k - 1] + u[k + 1] + u[k - nx] + u[k + nx] - source[k]);
}

extern "C" __global__ void heat_3d(const float *__restrict__ u, int nz, int ny, int nx,
                                   float *__restrict__ out, int out_nz, int out_ny, int out_nx,
                                   float alpha)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int i = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nz || j >= ny || k >= nx)
        return;
    int plane = ny * nx, at = i * plane + j * nx + k;
    float center = u[at];
    if (i == 0 || i == nz - 1 || j == 0 || j == ny - 1 || k == 0 || k == nx - 1)
        out[at] = center;
    else
        out[at] = center + alpha * (u[at - plane] + u[at + plane] + u[at - nx] + u[at + nx] +
                                    u[at - 1] + u[at + 1] - 6.0f * center);
}

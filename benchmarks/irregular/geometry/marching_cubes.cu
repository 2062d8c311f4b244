extern "C" __global__ void marching_cubes(const float *__restrict__ volume, int volume_nz,
                                          int volume_ny, int volume_nx, float level,
                                          const unsigned char *__restrict__ table, int table_len,
                                          unsigned char *__restrict__ cases, int nz, int ny,
                                          int nx, unsigned char *__restrict__ counts,
                                          int counts_nz, int counts_ny, int counts_nx)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int i = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nz || j >= ny || k >= nx)
        return;
    int line = volume_nx, plane = volume_ny * volume_nx;
    const float *c = volume + i * plane + j * line + k;
    int index = c[0] < level;
    index |= (c[1] < level) << 1;
    index |= (c[line + 1] < level) << 2;
    index |= (c[line] < level) << 3;
    index |= (c[plane] < level) << 4;
    index |= (c[plane + 1] < level) << 5;
    index |= (c[plane + line + 1] < level) << 6;
    index |= (c[plane + line] < level) << 7;
    int at = (i * ny + j) * nx + k;
    cases[at] = index;
    counts[at] = table[index];
}

extern "C" __global__ void particles_soa(float *__restrict__ x, int x_len, float *__restrict__ y,
                                         int y_len, float *__restrict__ z, int z_len,
                                         float *__restrict__ vx, int vx_len,
                                         float *__restrict__ vy, int vy_len,
                                         float *__restrict__ vz, int vz_len, float mass, float dt,
                                         int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float px = x[i], py = y[i], pz = z[i];
    float square = px * px + py * py + pz * pz + 0.01f;
    float pull = mass * dt / (square * sqrtf(square));
    float sx = vx[i] - pull * px, sy = vy[i] - pull * py, sz = vz[i] - pull * pz;
    vx[i] = sx;
    vy[i] = sy;
    vz[i] = sz;
    x[i] = px + sx * dt;
    y[i] = py + sy * dt;
    z[i] = pz + sz * dt;
}

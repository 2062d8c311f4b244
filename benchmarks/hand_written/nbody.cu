// one thread per body: the acceleration that all the others give it
extern "C" __global__ void nbody(float *out, const float *__restrict__ x, const float *__restrict__ y,
                                 const float *__restrict__ z, const float *__restrict__ mass,
                                 float softening, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float xi = x[i], yi = y[i], zi = z[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
        float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
        float pull = mass[j] * inverse * inverse * inverse;
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}

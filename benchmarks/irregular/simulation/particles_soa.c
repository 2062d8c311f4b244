#include <math.h>

void particles_soa(float *restrict x, int x_len, float *restrict y, int y_len, float *restrict z,
                   int z_len, float *restrict vx, int vx_len, float *restrict vy, int vy_len,
                   float *restrict vz, int vz_len, float mass, float dt, int n)
{
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        float square = x[i] * x[i] + y[i] * y[i] + z[i] * z[i] + 0.01f;
        float pull = mass * dt / (square * sqrtf(square));
        vx[i] -= pull * x[i];
        vy[i] -= pull * y[i];
        vz[i] -= pull * z[i];
        x[i] += vx[i] * dt;
        y[i] += vy[i] * dt;
        z[i] += vz[i] * dt;
    }
}

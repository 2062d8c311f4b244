#include <stdint.h>

static inline void add(float *cell, float charge)
{
#pragma omp atomic
    *cell += charge;
}

void particle_deposit(const float *restrict xs, int n, const float *restrict ys, int ys_len,
                      const float *restrict charges, int charges_len, float *restrict density,
                      int ny, int nx)
{
#pragma omp parallel for
    for (int p = 0; p < n; p++) {
        float x = xs[p], y = ys[p], q = charges[p];
        int i = (int)x, j = (int)y;
        float fx = x - i, fy = y - j;
        float *cell = density + (int64_t)j * nx + i;
        add(cell, q * (1.0f - fx) * (1.0f - fy));
        add(cell + 1, q * fx * (1.0f - fy));
        add(cell + nx, q * (1.0f - fx) * fy);
        add(cell + nx + 1, q * fx * fy);
    }
}

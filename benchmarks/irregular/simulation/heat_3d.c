#include <stddef.h>

void heat_3d(const float *restrict u, int nz, int ny, int nx, float *restrict out, int out_nz,
             int out_ny, int out_nx, float alpha)
{
    const ptrdiff_t plane = (ptrdiff_t)ny * nx;
#pragma omp parallel for collapse(2)
    for (int i = 0; i < nz; i++)
        for (int j = 0; j < ny; j++) {
            const float *restrict row = u + i * plane + (ptrdiff_t)j * nx;
            float *restrict to = out + i * plane + (ptrdiff_t)j * nx;
            if (i == 0 || i == nz - 1 || j == 0 || j == ny - 1) {
                for (int k = 0; k < nx; k++)
                    to[k] = row[k];
                continue;
            }
            to[0] = row[0];
            to[nx - 1] = row[nx - 1];
#pragma omp simd
            for (int k = 1; k < nx - 1; k++)
                to[k] = row[k] + alpha * (row[k - plane] + row[k + plane] + row[k - nx] +
                                          row[k + nx] + row[k - 1] + row[k + 1] - 6.0f * row[k]);
        }
}

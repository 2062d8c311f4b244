#include <stddef.h>

void jacobi(const double *restrict u, int u_len, const double *restrict source, int source_len,
            double *restrict out, int out_len, int nx, int ny)
{
#pragma omp parallel for
    for (int i = 1; i < ny - 1; i++)
#pragma omp simd
        for (int j = 1; j < nx - 1; j++) {
            ptrdiff_t k = (ptrdiff_t)i * nx + j;
            out[k] = 0.25 * (u[k - 1] + u[k + 1] + u[k - nx] + u[k + nx] - source[k]);
        }
}

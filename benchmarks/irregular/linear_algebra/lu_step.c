#include <stddef.h>

void lu_step(double *a, int n, int columns, int step)
{
    const double *restrict pivot = a + (ptrdiff_t)step * n;
#pragma omp parallel for
    for (int i = step + 1; i < n; i++) {
        double *restrict row = a + (ptrdiff_t)i * n;
        double factor = row[step];
#pragma omp simd
        for (int j = step + 1; j < n; j++)
            row[j] -= factor * pivot[j];
    }
}

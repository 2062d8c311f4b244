#include <stddef.h>

void thomas(const float *restrict lower, int lower_rows, int lower_columns,
            const float *restrict middle, int middle_rows, int middle_columns,
            float *restrict upper, int upper_rows, int upper_columns, float *restrict right, int n,
            int systems)
{
#pragma omp parallel
    {
#pragma omp for simd schedule(static) nowait
        for (int s = 0; s < systems; s++) {
            upper[s] /= middle[s];
            right[s] /= middle[s];
        }
        for (int i = 1; i < n; i++) {
            const ptrdiff_t row = (ptrdiff_t)i * systems;
#pragma omp for simd schedule(static) nowait
            for (int s = 0; s < systems; s++) {
                const ptrdiff_t at = row + s;
                float scale = 1.0f / (middle[at] - lower[at] * upper[at - systems]);
                upper[at] *= scale;
                right[at] = (right[at] - lower[at] * right[at - systems]) * scale;
            }
        }
        for (int i = n - 2; i >= 0; i--) {
            const ptrdiff_t row = (ptrdiff_t)i * systems;
#pragma omp for simd schedule(static) nowait
            for (int s = 0; s < systems; s++)
                right[row + s] -= upper[row + s] * right[row + s + systems];
        }
    }
}

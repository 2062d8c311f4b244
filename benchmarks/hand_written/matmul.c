#include <stdint.h>
#include <string.h>
#include "kernels.h"

#define ROWS 8
#define COLUMNS 32

// the three loops, blocked: ROWS x COLUMNS sums stay in registers; n is a multiple of both
void matmul(float *c, const float *a, const float *b, int64_t n)
{
#pragma omp parallel
    {
        float panel[n][COLUMNS];
#pragma omp for schedule(dynamic, 1)
        for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
            for (int64_t k = 0; k < n; k++)
                memcpy(panel[k], b + k * n + j0, sizeof panel[k]);
            for (int64_t i0 = 0; i0 < n; i0 += ROWS) {
                float sums[ROWS][COLUMNS] = {0};
                for (int64_t k = 0; k < n; k++)
                    for (int64_t i = 0; i < ROWS; i++)
#pragma omp simd
                        for (int64_t j = 0; j < COLUMNS; j++)
                            sums[i][j] += a[(i0 + i) * n + k] * panel[k][j];
                for (int64_t i = 0; i < ROWS; i++)
                    memcpy(c + (i0 + i) * n + j0, sums[i], sizeof sums[i]);
            }
        }
    }
}

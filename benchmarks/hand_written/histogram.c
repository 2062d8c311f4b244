#include <stdint.h>
#include "kernels.h"

#define BINS 256
#define COPIES 4 // neighbours that are equal must not wait for each other

void histogram(int32_t *counts, const uint8_t *x, int64_t n)
{
#pragma omp parallel
    {
        int32_t mine[COPIES][BINS] = {{0}};
#pragma omp for schedule(dynamic, 1 << 14) nowait
        for (int64_t i = 0; i < n / COPIES; i++)
            for (int64_t k = 0; k < COPIES; k++)
                mine[k][x[i * COPIES + k]]++;
#pragma omp single nowait
        for (int64_t i = n / COPIES * COPIES; i < n; i++)
            mine[0][x[i]]++;
#pragma omp critical
        for (int64_t b = 0; b < BINS; b++)
            counts[b] += mine[0][b] + mine[1][b] + mine[2][b] + mine[3][b];
    }
}

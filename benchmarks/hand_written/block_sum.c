#include <stdint.h>
#include "kernels.h"

#define THREADS 256

void block_sum(float *out, const float *x, int64_t n)
{
#pragma omp parallel for schedule(dynamic, 128)
    for (int64_t block = 0; block < n / THREADS; block++) {
        const float *from = x + block * THREADS;
        float total = 0.0f;
#pragma omp simd reduction(+ : total)
        for (int64_t t = 0; t < THREADS; t++)
            total += from[t];
        out[block] = total;
    }
}

#include <stdint.h>
#include "kernels.h"

void saxpy(float *out, const float *x, const float *y, float a, int64_t n)
{
#pragma omp parallel for simd schedule(dynamic, 1 << 15)
    for (int64_t i = 0; i < n; i++)
        out[i] = a * x[i] + y[i];
}

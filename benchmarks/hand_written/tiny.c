#include <stdint.h>
#include "kernels.h"

void tiny(float *out, const float *x, float a)
{
    for (int64_t i = 0; i < 32; i++)
        out[i] = a * x[i];
}

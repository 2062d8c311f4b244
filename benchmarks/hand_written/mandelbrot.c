#include <stdint.h>
#include "kernels.h"

// one point after the other: a loop that each point leaves at its own time has no plain vector form
void mandelbrot(int32_t *out, float left, float top, float step, int32_t limit, int64_t rows,
                int64_t columns)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t i = 0; i < rows; i++) {
        float ci = top + step * (float)i;
        for (int64_t j = 0; j < columns; j++) {
            float cr = left + step * (float)j;
            float zr = 0.0f, zi = 0.0f;
            int32_t count = 0;
            while (count < limit && zr * zr + zi * zi < 4.0f) {
                float next = zr * zr - zi * zi + cr;
                zi = 2.0f * zr * zi + ci;
                zr = next;
                count++;
            }
            out[i * columns + j] = count;
        }
    }
}

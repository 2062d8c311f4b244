#include <stdint.h>

void gray(const uint8_t *rgb, int rows, int columns, int colors, uint8_t *out, int height, int width)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            const uint8_t *pixel = rgb + ((int64_t)i * width + j) * 3;
            out[(int64_t)i * width + j] = 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
        }
}

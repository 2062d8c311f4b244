#include <stdint.h>

void image_integral(const uint8_t *restrict image, int rows, int columns, int *restrict sums,
                    int sums_rows, int sums_columns, int height, int width)
{
#pragma omp parallel for
    for (int i = 0; i < height; i++) {
        int total = 0;
        for (int j = 0; j < width; j++) {
            total += image[i * columns + j];
            sums[i * columns + j] = total;
        }
    }
}

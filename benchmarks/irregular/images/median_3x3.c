#include <stdint.h>

void median_3x3(const uint8_t *restrict image, int height, int width, uint8_t *restrict out,
                int out_height, int out_width)
{
#pragma omp parallel for
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            if (i == 0 || j == 0 || i == height - 1 || j == width - 1) {
                out[i * width + j] = image[i * width + j];
                continue;
            }
            uint8_t window[9];
            for (int k = 0; k < 9; k++)
                window[k] = image[(i + k / 3 - 1) * width + j + k % 3 - 1];
            for (int k = 1; k < 9; k++) {
                uint8_t value = window[k];
                int m = k - 1;
                for (; m >= 0 && window[m] > value; m--)
                    window[m + 1] = window[m];
                window[m + 1] = value;
            }
            out[i * width + j] = window[4];
        }
}

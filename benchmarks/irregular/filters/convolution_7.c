enum { RADIUS = 3, SIZE = 2 * RADIUS + 1 };

void convolution_7(const float *restrict image, int image_len, const float *restrict weights,
                   int weights_len, float *restrict out, int out_len, int rows, int columns)
{
#pragma omp parallel for
    for (int i = RADIUS; i < rows - RADIUS; i++)
#pragma omp simd
        for (int j = RADIUS; j < columns - RADIUS; j++) {
            float total = 0.0f;
            for (int di = -RADIUS; di <= RADIUS; di++)
                for (int dj = -RADIUS; dj <= RADIUS; dj++)
                    total += weights[(di + RADIUS) * SIZE + dj + RADIUS] *
                             image[(i + di) * columns + j + dj];
            out[i * columns + j] = total;
        }
}

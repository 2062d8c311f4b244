static inline int clamp(int index, int length)
{
    return index < 0 ? 0 : index >= length ? length - 1 : index;
}

void convolution_3(const float *restrict image, int rows, int columns,
                   const float *restrict weights, int weights_rows, int weights_columns,
                   float *restrict out, int out_rows, int out_columns)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float total = 0.0f;
            for (int di = 0; di < 3; di++) {
                const float *row = image + clamp(i + di - 1, rows) * columns;
                for (int dj = 0; dj < 3; dj++)
                    total += weights[di * 3 + dj] * row[clamp(j + dj - 1, columns)];
            }
            out[i * columns + j] = total;
        }
}

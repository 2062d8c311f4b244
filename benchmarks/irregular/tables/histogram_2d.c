void histogram_2d(const float *restrict xs, int xs_len, const float *restrict ys, int ys_len,
                  int *restrict counts, int rows, int columns)
{
#pragma omp parallel for
    for (int i = 0; i < xs_len; i++) {
        int row = ys[i] * rows, column = xs[i] * columns;
        row = row < rows - 1 ? row : rows - 1;
        column = column < columns - 1 ? column : columns - 1;
#pragma omp atomic
        counts[row * columns + column]++;
    }
}

void spmv_ell(const int *restrict columns, int width, int columns_rows,
              const float *restrict values, int values_width, int values_rows,
              const float *restrict x, int x_len, float *restrict y, int rows)
{
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        float total = 0.0f;
        for (int k = 0; k < width; k++) {
            int column = columns[k * rows + row];
            if (column >= 0)
                total += values[k * rows + row] * x[column];
        }
        y[row] = total;
    }
}

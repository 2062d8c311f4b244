void spmv_csr(const int *starts, int starts_len, const int *columns, int columns_len,
              const float *values, int values_len, const float *x, int x_len, float *y, int rows)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (int row = 0; row < rows; row++) {
        float total = 0.0f;
        for (int k = starts[row]; k < starts[row + 1]; k++)
            total += values[k] * x[columns[k]];
        y[row] = total;
    }
}

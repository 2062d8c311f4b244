void spmv_coo(const int *restrict rows, int rows_len, const int *restrict columns, int columns_len,
              const float *restrict values, int values_len, const float *restrict x, int x_len,
              float *restrict y, int y_len, int count)
{
#pragma omp parallel for
    for (int k = 0; k < count; k++) {
        float product = values[k] * x[columns[k]];
#pragma omp atomic
        y[rows[k]] += product;
    }
}

void triangular_solve(const int *restrict level, int level_len, const int *restrict starts,
                      int starts_len, const int *restrict columns, int columns_len,
                      const float *restrict values, int values_len, const float *restrict diagonal,
                      int diagonal_len, const float *restrict b, int b_len, float *restrict x,
                      int x_len)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (int i = 0; i < level_len; i++) {
        int row = level[i];
        int stop = starts[row + 1];
        float total = b[row];
        for (int k = starts[row]; k < stop; k++)
            total -= values[k] * x[columns[k]];
        x[row] = total / diagonal[row];
    }
}

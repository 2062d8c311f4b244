extern "C" __global__ void triangular_solve(const int *__restrict__ level, int level_len,
                                            const int *__restrict__ starts, int starts_len,
                                            const int *__restrict__ columns, int columns_len,
                                            const float *__restrict__ values, int values_len,
                                            const float *__restrict__ diagonal, int diagonal_len,
                                            const float *__restrict__ b, int b_len, float *x,
                                            int x_len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= level_len)
        return;
    int row = level[i];
    int stop = starts[row + 1];
    float total = b[row];
    for (int k = starts[row]; k < stop; k++)
        total -= values[k] * x[columns[k]];
    x[row] = total / diagonal[row];
}

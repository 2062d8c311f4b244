extern "C" __global__ void spmv_csr(const int *__restrict__ starts, int starts_len,
                                    const int *__restrict__ columns, int columns_len,
                                    const float *__restrict__ values, int values_len,
                                    const float *__restrict__ x, int x_len,
                                    float *__restrict__ y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float total = 0.0f;
    int stop = starts[row + 1];
    for (int k = starts[row]; k < stop; k++)
        total += values[k] * x[columns[k]];
    y[row] = total;
}

extern "C" __global__ void spmv_coo(const int *__restrict__ rows, int rows_len,
                                    const int *__restrict__ columns, int columns_len,
                                    const float *__restrict__ values, int values_len,
                                    const float *__restrict__ x, int x_len,
                                    float *__restrict__ y, int y_len, int count)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count)
        atomicAdd(y + rows[k], values[k] * x[columns[k]]);
}

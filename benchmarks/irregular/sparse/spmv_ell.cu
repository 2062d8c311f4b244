extern "C" __global__ void spmv_ell(const int *__restrict__ columns, int width, int columns_rows,
                                    const float *__restrict__ values, int values_width,
                                    int values_rows, const float *__restrict__ x, int x_len,
                                    float *__restrict__ y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float total = 0.0f;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + row];
        if (column >= 0)
            total += values[k * rows + row] * x[column];
    }
    y[row] = total;
}

extern "C" __global__ void convolution_5(const float *__restrict__ image, int rows, int columns,
                                         const float *__restrict__ weights, int weights_rows,
                                         int weights_columns, float *__restrict__ out,
                                         int out_rows, int out_columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns)
        return;
    int i_offset = weights_rows / 2, j_offset = weights_columns / 2;
    float total = 0.0f;
    for (int k = 0; k < weights_rows; k++) {
        int row = i + k - i_offset;
        if (row < 0 || row >= rows)
            continue;
        for (int m = 0; m < weights_columns; m++) {
            int column = j + m - j_offset;
            if (column >= 0 && column < columns)
                total += weights[k * weights_columns + m] * image[row * columns + column];
        }
    }
    out[i * columns + j] = total;
}

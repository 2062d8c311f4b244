extern "C" __global__ void convolution_3(const float *__restrict__ image, int rows, int columns,
                                         const float *__restrict__ weights, int weights_rows,
                                         int weights_columns, float *__restrict__ out,
                                         int out_rows, int out_columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns)
        return;
    float total = 0.0f;
    for (int di = 0; di < 3; di++) {
        const float *row = image + min(max(i + di - 1, 0), rows - 1) * columns;
        for (int dj = 0; dj < 3; dj++)
            total += weights[di * 3 + dj] * row[min(max(j + dj - 1, 0), columns - 1)];
    }
    out[i * columns + j] = total;
}

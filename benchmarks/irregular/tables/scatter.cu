extern "C" __global__ void scatter(const float *__restrict__ source, int rows, int columns,
                                   const int *__restrict__ targets, int targets_len,
                                   float *__restrict__ out, int out_rows, int out_columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    const float *from = source + i * columns;
    float *to = out + targets[i] * columns;
    for (int j = 0; j < columns; j++)
        to[j] = from[j];
}

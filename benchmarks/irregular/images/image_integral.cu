extern "C" __global__ void image_integral(const unsigned char *__restrict__ image, int rows,
                                          int columns, int *__restrict__ sums, int sums_rows,
                                          int sums_columns, int height, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height)
        return;
    const unsigned char *row = image + i * columns;
    int *out = sums + i * columns;
    int total = 0;
    for (int j = 0; j < width; j++) {
        total += row[j];
        out[j] = total;
    }
}

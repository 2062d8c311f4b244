extern "C" __global__ void sobel(const float *image, int image_shape0, int image_shape1, float *out,
                                 int out_shape1) {
    __shared__ float tile[10][10];
    int height = image_shape0;
    int width = image_shape1;
    int left = blockIdx.x * 8 - 1;
    int top = blockIdx.y * 8 - 1;
    for (int row = threadIdx.y; row < 10; row += 8) {
        for (int column = threadIdx.x; column < 10; column += 8) {
            int inside_y = min(max(top + row, 0), height - 1);
            int inside_x = min(max(left + column, 0), width - 1);
            tile[row][column] = image[inside_y * width + inside_x];
        }
    }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int r = threadIdx.y;
    int c = threadIdx.x;
    float across = tile[r][c + 2] + 2.0f * tile[r + 1][c + 2] + tile[r + 2][c + 2];
    across -= tile[r][c] + 2.0f * tile[r + 1][c] + tile[r + 2][c];
    float down = tile[r + 2][c] + 2.0f * tile[r + 2][c + 1] + tile[r + 2][c + 2];
    down -= tile[r][c] + 2.0f * tile[r][c + 1] + tile[r][c + 2];
    out[y * out_shape1 + x] = sqrtf(across * across + down * down);
}

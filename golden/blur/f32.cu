extern "C" __global__ void blur(const float *image, int image_shape0, int image_shape1,
                                const float *weights, float *out, int out_shape1) {
    __shared__ float tile[12][12];
    int height = image_shape0;
    int width = image_shape1;
    int left = blockIdx.x * 8 - 2;
    int top = blockIdx.y * 8 - 2;
    for (int row = threadIdx.y; row < 12; row += 8) {
        for (int column = threadIdx.x; column < 12; column += 8) {
            int y = min(max(top + row, 0), height - 1);
            int x = min(max(left + column, 0), width - 1);
            tile[row][column] = image[y * width + x];
        }
    }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float total = 0.0f;
        for (int dy = 0; dy < 5; ++dy) {
            for (int dx = 0; dx < 5; ++dx) {
                float weight = weights[dy] * weights[dx];
                total += weight * tile[(int)threadIdx.y + dy][(int)threadIdx.x + dx];
            }
        }
        out[y * out_shape1 + x] = total;
    }
}

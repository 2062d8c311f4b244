extern "C" __global__ void flip(const unsigned char *image, int image_shape0, int image_shape1,
                                unsigned char *out, int out_shape1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = image_shape0;
    int width = image_shape1;
    if (x < width && y < height) {
        out[y * out_shape1 + x] = image[(height - 1 - y) * width + width - 1 - x];
    }
}

extern "C" __global__ void grayscale(const unsigned char *rgb, int rgb_shape1, int rgb_shape2,
                                     unsigned char *gray, int gray_shape0, int gray_shape1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < gray_shape1 && y < gray_shape0) {
        int red = rgb[(y * rgb_shape1 + x) * rgb_shape2];
        int green = rgb[(y * rgb_shape1 + x) * rgb_shape2 + 1];
        int blue = rgb[(y * rgb_shape1 + x) * rgb_shape2 + 2];
        gray[y * gray_shape1 + x] = (77 * red + 150 * green + 29 * blue) >> 8;
    }
}

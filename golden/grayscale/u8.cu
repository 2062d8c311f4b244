extern "C" __global__ void grayscale(const unsigned char *rgb, int rgb_shape1, int rgb_shape2,
                                     unsigned char *gray, int gray_shape0, int gray_shape1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < gray_shape1 && y < gray_shape0) {
        int at = (y * rgb_shape1 + x) * rgb_shape2;
        int red = rgb[at];
        int green = rgb[at + 1];
        int blue = rgb[at + 2];
        gray[y * gray_shape1 + x] = (77 * red + 150 * green + 29 * blue) >> 8;
    }
}

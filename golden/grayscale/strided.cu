extern "C" __global__ void grayscale(const unsigned char *rgb, int rgb_stride0, int rgb_stride1,
                                     int rgb_stride2, unsigned char *gray, int gray_shape0,
                                     int gray_shape1, int gray_stride0, int gray_stride1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < gray_shape1 && y < gray_shape0) {
        int at = y * rgb_stride0 + x * rgb_stride1;
        int red = rgb[at];
        int green = rgb[at + rgb_stride2];
        int blue = rgb[at + 2 * rgb_stride2];
        gray[y * gray_stride0 + x * gray_stride1] = (77 * red + 150 * green + 29 * blue) >> 8;
    }
}

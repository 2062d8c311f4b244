extern "C" __global__ void flip(const unsigned char *image, int image_shape0, int image_shape1,
                                int image_stride0, int image_stride1, unsigned char *out,
                                int out_stride0, int out_stride1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = image_shape0;
    int width = image_shape1;
    if (x < width && y < height) {
        out[y * out_stride0 + x * out_stride1] = image[(height - 1 - y) * image_stride0 + (width - 1 - x) * image_stride1];
    }
}

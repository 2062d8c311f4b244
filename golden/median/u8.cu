extern "C" __global__ void median(const unsigned char *image, int image_shape0, int image_shape1,
                                  unsigned char *out, int out_shape1) {
    float window[9];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= image_shape1 - 1 || y >= image_shape0 - 1) {
        return;
    }
    int filled = 0;
    for (int dy = -1; dy < 2; ++dy) {
        for (int dx = -1; dx < 2; ++dx) {
            unsigned char pixel = image[(y + dy) * image_shape1 + x + dx];
            int place = filled;
            while (place > 0 && window[place - 1] > pixel) {
                window[place] = window[place - 1];
                place -= 1;
            }
            window[place] = pixel;
            filled += 1;
        }
    }
    out[y * out_shape1 + x] = (unsigned char)window[4];
}

extern "C" __global__ void life(const unsigned char *alive, int alive_shape0, int alive_shape1,
                                unsigned char *following, int following_shape1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = alive_shape0;
    int width = alive_shape1;
    if (x >= width || y >= height) return;
    unsigned char neighbours = 0;
    for (int dy = -1; dy < 2; ++dy) {
        for (int dx = -1; dx < 2; ++dx) {
            if (dx == 0 && dy == 0) continue;
            int at = y + dy;
            int at_1 = x + dx;
            neighbours += alive[(at < 0 ? at + height : at < height ? at : at - height) * width + (at_1 < 0 ? at_1 + width : at_1 < width ? at_1 : at_1 - width)];
        }
    }
    bool survives = neighbours == 3 || (neighbours == 2 && alive[y * width + x] == 1);
    following[y * following_shape1 + x] = survives ? 1 : 0;
}

// a % b: has the sign of b; 0 where b is 0.
__device__ __forceinline__ int mod_i32(int a, int b) {
    if (b == 0 || b == -1) return 0;
    const int remainder = (int)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (int)(remainder + b) : remainder;
}

extern "C" __global__ void life(const int *alive, int alive_shape0, int alive_shape1,
                                int alive_stride0, int alive_stride1, int *following,
                                int following_stride0, int following_stride1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = alive_shape0;
    int width = alive_shape1;
    if (x >= width || y >= height) return;
    int neighbours = 0;
    for (int dy = -1; dy < 2; ++dy) {
        for (int dx = -1; dx < 2; ++dx) {
            if (dx == 0 && dy == 0) continue;
            neighbours += (unsigned int)alive[mod_i32(y + dy, height) * alive_stride0 + mod_i32(x + dx, width) * alive_stride1];
        }
    }
    bool survives = neighbours == 3 || (neighbours == 2 && alive[y * alive_stride0 + x * alive_stride1] == 1);
    following[y * following_stride0 + x * following_stride1] = survives ? 1 : 0;
}

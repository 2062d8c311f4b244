extern "C" __global__ void stencil5(const float *u, int u_shape0, int u_shape1, float *out,
                                    int out_shape1, float rate) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = u_shape0;
    int width = u_shape1;
    if (x >= width || y >= height) return;
    if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
        int row = y * width;
        float around = u[row + x - width] + u[row + x + width] + u[row + x - 1] + u[row + x + 1];
        out[y * out_shape1 + x] = u[row + x] + rate * (around - 4.0f * u[row + x]);
    } else {
        out[y * out_shape1 + x] = u[y * width + x];
    }
}

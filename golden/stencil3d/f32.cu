extern "C" __global__ void stencil3d(const float *u, int u_shape0, int u_shape1, int u_shape2,
                                     float *out, int out_shape1, int out_shape2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int depth = u_shape0;
    int height = u_shape1;
    int width = u_shape2;
    if (0 < x && x < width - 1 && (0 < y && y < height - 1) && (0 < z && z < depth - 1)) {
        int row = (z * height + y) * width;
        float total = u[row + x - height * width] + u[row + x + height * width];
        total += u[row + x - width] + u[row + x + width];
        total += u[row + x - 1] + u[row + x + 1];
        out[(z * out_shape1 + y) * out_shape2 + x] = total / 6.0f;
    }
}

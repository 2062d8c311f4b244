extern "C" __global__ void stencil3d(const float *u, int u_shape0, int u_shape1, int u_shape2,
                                     int u_stride0, int u_stride1, int u_stride2, float *out,
                                     int out_stride0, int out_stride1, int out_stride2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int depth = u_shape0;
    int height = u_shape1;
    int width = u_shape2;
    if (0 < x && x < width - 1 && (0 < y && y < height - 1) && (0 < z && z < depth - 1)) {
        float total = u[(z - 1) * u_stride0 + y * u_stride1 + x * u_stride2] + u[(z + 1) * u_stride0 + y * u_stride1 + x * u_stride2];
        total += u[z * u_stride0 + (y - 1) * u_stride1 + x * u_stride2] + u[z * u_stride0 + (y + 1) * u_stride1 + x * u_stride2];
        total += u[z * u_stride0 + y * u_stride1 + (x - 1) * u_stride2] + u[z * u_stride0 + y * u_stride1 + (x + 1) * u_stride2];
        out[z * out_stride0 + y * out_stride1 + x * out_stride2] = total / 6.0f;
    }
}

extern "C" __global__ void matmul_naive(const float *a, int a_shape1, int a_stride0, int a_stride1,
                                        const float *b, int b_stride0, int b_stride1, float *c,
                                        int c_shape0, int c_shape1, int c_stride0, int c_stride1) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < c_shape0 && column < c_shape1) {
        float total = 0.0f;
        for (int k = 0; k < a_shape1; ++k) {
            total += a[row * a_stride0 + k * a_stride1] * b[k * b_stride0 + column * b_stride1];
        }
        c[row * c_stride0 + column * c_stride1] = total;
    }
}

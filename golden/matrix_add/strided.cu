extern "C" __global__ void matrix_add(const float *a, int a_stride0, int a_stride1, const float *b,
                                      int b_stride0, int b_stride1, float *c, int c_shape0,
                                      int c_shape1, int c_stride0, int c_stride1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < c_shape0 && j < c_shape1) {
        c[i * c_stride0 + j * c_stride1] = a[i * a_stride0 + j * a_stride1] + b[i * b_stride0 + j * b_stride1];
    }
}

extern "C" __global__ void matrix_add(const float *a, int a_shape1, const float *b, int b_shape1,
                                      float *c, int c_shape0, int c_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < c_shape0 && j < c_shape1) {
        c[i * c_shape1 + j] = a[i * a_shape1 + j] + b[i * b_shape1 + j];
    }
}

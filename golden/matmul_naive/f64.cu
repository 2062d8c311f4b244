extern "C" __global__ void matmul_naive(const double *a, int a_shape1, const double *b,
                                        int b_shape1, double *c, int c_shape0, int c_shape1) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < c_shape0 && column < c_shape1) {
        double total = 0.0;
        for (int k = 0; k < a_shape1; ++k) {
            total += a[row * a_shape1 + k] * b[k * b_shape1 + column];
        }
        c[row * c_shape1 + column] = total;
    }
}

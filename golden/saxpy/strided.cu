extern "C" __global__ void saxpy(float a, const float *x, int x_stride0, float *y, int y_len,
                                 int y_stride0) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < y_len) {
        y[i * y_stride0] = a * x[i * x_stride0] + y[i * y_stride0];
    }
}

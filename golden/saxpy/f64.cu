extern "C" __global__ void saxpy(double a, const double *x, double *y, int y_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < y_len) {
        y[i] = a * x[i] + y[i];
    }
}

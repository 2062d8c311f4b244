extern "C" __global__ void saxpy(double a, const float *x, float *y, int y_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < y_len) {
        y[i] = (float)a * x[i] + y[i];
    }
}

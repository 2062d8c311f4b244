extern "C" __global__ void saxpy(float a, const float *x, float *y, int y_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < y_len) {
        y[i] = a * x[i] + y[i];
    }
}

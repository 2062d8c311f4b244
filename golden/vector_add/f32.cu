extern "C" __global__ void vector_add(const float *a, const float *b, float *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        out[i] = a[i] + b[i];
    }
}

extern "C" __global__ void vector_add(const int *a, const int *b, int *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        out[i] = (unsigned int)a[i] + b[i];
    }
}

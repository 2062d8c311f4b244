extern "C" __global__ void vector_add(const unsigned char *a, const unsigned char *b,
                                      unsigned char *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        out[i] = a[i] + b[i];
    }
}

__device__ unsigned int greatest_common_divisor(unsigned int a, unsigned int b) {
    while (b != 0) {
        unsigned int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

extern "C" __global__ void gcd(const unsigned int *a, const unsigned int *b, unsigned int *out,
                               int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        out[i] = greatest_common_divisor(a[i], b[i]);
    }
}

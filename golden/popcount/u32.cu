// a >> b; 0 where b is the width or more.
__device__ __forceinline__ unsigned int shr_u32(unsigned int a, unsigned int b) {
    return (unsigned int)(b < 32 ? a >> b : 0);
}

extern "C" __global__ void popcount(const unsigned int *words, int words_len, int *out,
                                    int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words_len) return;
    unsigned int rest = words[i];
    int cleared = 0;
    while (rest != 0) {
        rest &= rest - 1;
        cleared += 1;
    }
    int shifted = 0;
    for (int bit = 0; bit < 64; ++bit) {
        shifted += (int)(shr_u32(words[i], (unsigned int)bit) & 1);
    }
    int missing = 0;
    rest = ~words[i];
    while (rest != 0) {
        missing += (int)(rest & 1);
        rest >>= 1;
    }
    int at = i * out_shape1;
    out[at] = cleared;
    out[at + 1] = shifted;
    out[at + 2] = missing;
}

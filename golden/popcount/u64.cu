extern "C" __global__ void popcount(const unsigned long long *words, int words_len, int *out,
                                    int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words_len) return;
    unsigned long long rest = words[i];
    int cleared = 0;
    while (rest != 0) {
        rest &= rest - 1;
        cleared += 1;
    }
    int shifted = 0;
    for (int bit = 0; bit < 64; ++bit) {
        shifted += (int)((words[i] >> (unsigned long long)bit) & 1);
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

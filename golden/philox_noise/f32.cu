struct u32_u32_u32_u32 {
    unsigned int item0;
    unsigned int item1;
    unsigned int item2;
    unsigned int item3;
};

__device__ struct u32_u32_u32_u32 philox4x32(unsigned int key_0, unsigned int key_1,
                                             unsigned int counter_0, unsigned int counter_1,
                                             unsigned int counter_2, unsigned int counter_3) {
    unsigned int k0 = key_0;
    unsigned int k1 = key_1;
    unsigned int c0 = counter_0;
    unsigned int c1 = counter_1;
    unsigned int c2 = counter_2;
    unsigned int c3 = counter_3;
    for (int _ = 0; _ < 10; ++_) {
        unsigned long long even = (unsigned long long)c0 * 3528531795ULL;
        unsigned long long odd = (unsigned long long)c2 * 3449720151ULL;
        c0 = (unsigned int)(odd >> 32) ^ c1 ^ k0;
        c1 = odd;
        c2 = (unsigned int)(even >> 32) ^ c3 ^ k1;
        c3 = even;
        k0 += 2654435769U;
        k1 += 3144134277U;
    }
    return u32_u32_u32_u32{c0, c1, c2, c3};
}

__device__ struct u32_u32_u32_u32 philox_uint32x4(int seed, int subsequence,
                                                  unsigned long long offset) {
    unsigned long long s = seed;
    unsigned long long q = subsequence;
    unsigned long long n = offset;
    unsigned int key_0 = s;
    unsigned int key_1 = s >> 32;
    unsigned int counter_0 = n;
    unsigned int counter_1 = n >> 32;
    unsigned int counter_2 = q;
    unsigned int counter_3 = q >> 32;
    struct u32_u32_u32_u32 philox4x32_1 = philox4x32(key_0, key_1, counter_0, counter_1, counter_2, counter_3);
    return u32_u32_u32_u32{philox4x32_1.item0, philox4x32_1.item1, philox4x32_1.item2, philox4x32_1.item3};
}

__device__ unsigned int philox_uint32(int seed, int subsequence, int offset) {
    unsigned long long n = offset;
    struct u32_u32_u32_u32 philox_uint32x4_1 = philox_uint32x4(seed, subsequence, n >> 2);
    unsigned int a = philox_uint32x4_1.item0;
    unsigned int b = philox_uint32x4_1.item1;
    unsigned int c = philox_uint32x4_1.item2;
    unsigned int d = philox_uint32x4_1.item3;
    if ((n & 2) != 0) return (n & 1) != 0 ? d : c;
    return (n & 1) != 0 ? b : a;
}

__device__ float _unit_float32(unsigned int x) {
    return (float)(int)(x >> 8) * 5.9604645e-08f;
}

__device__ float philox_uniform_float32(int seed, int subsequence, int offset) {
    return _unit_float32(philox_uint32(seed, subsequence, offset));
}

extern "C" __global__ void philox_noise(int seed, float *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        out[i] = philox_uniform_float32(seed, 0, i);
    }
}

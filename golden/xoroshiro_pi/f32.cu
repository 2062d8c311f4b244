struct u64_u64 {
    unsigned long long s0;
    unsigned long long s1;
};

__device__ unsigned long long xoroshiro128p_next(u64_u64 *states, int index_) {
    unsigned long long s0 = states[index_].s0;
    unsigned long long s1 = states[index_].s1;
    unsigned long long result = s0 + s1;
    s1 ^= s0;
    states[index_].s0 = ((s0 << 55) | (s0 >> 9)) ^ s1 ^ (s1 << 14);
    states[index_].s1 = (s1 << 36) | (s1 >> 28);
    return result;
}

__device__ float uint64_to_unit_float32(unsigned long long x) {
    return (long long)(x >> 11) * 1.110223e-16f;
}

__device__ float xoroshiro128p_uniform_float32(u64_u64 *states, int index_) {
    return uint64_to_unit_float32(xoroshiro128p_next(states, index_));
}

extern "C" __global__ void xoroshiro_pi(u64_u64 *states, int draws, float *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        int inside = 0;
        for (int _ = 0; _ < draws; ++_) {
            float x = xoroshiro128p_uniform_float32(states, i);
            float y = xoroshiro128p_uniform_float32(states, i);
            if (x * x + y * y <= 1.0f) {
                inside += 1;
            }
        }
        out[i] = (float)(4.0 * inside / draws);
    }
}

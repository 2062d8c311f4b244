#include <stdint.h>

struct u64_u64 {
    uint64_t s0;
    uint64_t s1;
};

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct xoroshiro_pi_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    struct u64_u64 *p0_data0;
    int64_t p1_value0;
    float *p2_data0;
    int64_t p2_shape0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline uint64_t xoroshiro128p_next(struct u64_u64 *states, int64_t index_) {
    uint64_t s0 = states[index_].s0;
    uint64_t s1 = states[index_].s1;
    uint64_t result = s0 + s1;
    s1 ^= s0;
    states[index_].s0 = ((s0 << 55) | (s0 >> 9)) ^ s1 ^ (s1 << 14);
    states[index_].s1 = (s1 << 36) | (s1 >> 28);
    return result;
}

static inline float uint64_to_unit_float32(uint64_t x) {
    return (int64_t)(x >> 11) * 1.110223e-16f;
}

static inline float xoroshiro128p_uniform_float32(struct u64_u64 *states, int64_t index_) {
    return uint64_to_unit_float32(xoroshiro128p_next(states, index_));
}

void xoroshiro_pi(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct xoroshiro_pi_args *const args = arguments;
    struct u64_u64 *states = args->p0_data0;
    int64_t draws = args->p1_value0;
    float *out = args->p2_data0;
    int64_t out_len = args->p2_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        for (int64_t i = first_x; i < min_i64(last_x, out_len); ++i) {
            int64_t inside = 0;
            for (int64_t _ = 0; _ < draws; ++_) {
                float x = xoroshiro128p_uniform_float32(states, i);
                float y = xoroshiro128p_uniform_float32(states, i);
                if (x * x + y * y <= 1.0f) {
                    inside += 1;
                }
            }
            out[i] = (float)(4.0 * inside / draws);
        }
    }
}

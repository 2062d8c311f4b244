#include <stdint.h>

struct u32_u32_u32_u32 {
    uint32_t item0;
    uint32_t item1;
    uint32_t item2;
    uint32_t item3;
};

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct philox_noise_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    int64_t p0_value0;
    float *p1_data0;
    int64_t p1_shape0;
};

// The lesser, as Python chooses: the first where neither is.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline struct u32_u32_u32_u32 philox4x32(uint32_t key_0, uint32_t key_1, uint32_t counter_0,
                                                uint32_t counter_1, uint32_t counter_2,
                                                uint32_t counter_3) {
    uint32_t k0 = key_0;
    uint32_t k1 = key_1;
    uint32_t c0 = counter_0;
    uint32_t c1 = counter_1;
    uint32_t c2 = counter_2;
    uint32_t c3 = counter_3;
    for (int64_t _ = 0; _ < 10; ++_) {
        uint64_t even = (uint64_t)c0 * 3528531795ULL;
        uint64_t odd = (uint64_t)c2 * 3449720151ULL;
        c0 = (uint32_t)(odd >> 32) ^ c1 ^ k0;
        c1 = odd;
        c2 = (uint32_t)(even >> 32) ^ c3 ^ k1;
        c3 = even;
        k0 += 2654435769U;
        k1 += 3144134277U;
    }
    return (struct u32_u32_u32_u32){c0, c1, c2, c3};
}

static inline struct u32_u32_u32_u32 philox_uint32x4(int64_t seed, int64_t subsequence,
                                                  uint64_t offset) {
    uint64_t s = seed;
    uint64_t q = subsequence;
    uint64_t n = offset;
    uint32_t key_0 = s;
    uint32_t key_1 = s >> 32;
    uint32_t counter_0 = n;
    uint32_t counter_1 = n >> 32;
    uint32_t counter_2 = q;
    uint32_t counter_3 = q >> 32;
    struct u32_u32_u32_u32 philox4x32_1 = philox4x32(key_0, key_1, counter_0, counter_1, counter_2, counter_3);
    return (struct u32_u32_u32_u32){philox4x32_1.item0, philox4x32_1.item1, philox4x32_1.item2, philox4x32_1.item3};
}

static inline uint32_t philox_uint32(int64_t seed, int64_t subsequence, int64_t offset) {
    uint64_t n = offset;
    struct u32_u32_u32_u32 philox_uint32x4_1 = philox_uint32x4(seed, subsequence, n >> 2);
    uint32_t a = philox_uint32x4_1.item0;
    uint32_t b = philox_uint32x4_1.item1;
    uint32_t c = philox_uint32x4_1.item2;
    uint32_t d = philox_uint32x4_1.item3;
    if ((n & 2) != 0) return (n & 1) != 0 ? d : c;
    return (n & 1) != 0 ? b : a;
}

static inline float _unit_float32(uint32_t x) {
    return (float)(int32_t)(x >> 8) * 5.9604645e-08f;
}

static inline float philox_uniform_float32(int64_t seed, int64_t subsequence, int64_t offset) {
    return _unit_float32(philox_uint32(seed, subsequence, offset));
}

void philox_noise(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct philox_noise_args *const args = arguments;
    int64_t seed = args->p0_value0;
    float *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, out_len); ++i) {
            out[i] = philox_uniform_float32(seed, 0, i);
        }
    }
}

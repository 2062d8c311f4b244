#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct integer_hash_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint32_t *p0_data0;
    int64_t p0_shape0;
    uint32_t *p1_data0;
    uint32_t p2_value0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline uint32_t mixed(uint32_t h) {
    h ^= h >> 16;
    h *= 2246822507U;
    h ^= h >> 13;
    h *= 3266489909U;
    h ^= h >> 16;
    return h;
}

void integer_hash(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct integer_hash_args *const args = arguments;
    const uint32_t *keys = args->p0_data0;
    int64_t keys_len = args->p0_shape0;
    uint32_t *out = args->p1_data0;
    uint32_t seed = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, keys_len); ++i) {
            out[i] = mixed(keys[i] ^ mixed(seed + (uint32_t)i));
        }
    }
}

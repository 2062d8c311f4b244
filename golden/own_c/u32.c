#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct own_c_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint32_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    uint32_t *p1_data0;
    int64_t p1_shape0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static unsigned mixed(unsigned x) { return (x ^ x >> 15) * 0x2c1b3c6du; }

static inline uint32_t hash_of(const uint32_t *data, int64_t data_len, int64_t data_stride0,
                               uint32_t seed) {
    unsigned hash = seed;
    for (int i = 0; i < data_len; ++i)
        hash = mixed(hash ^ data[i * data_stride0]);
    return hash;
}

static inline uint32_t xor3(uint32_t a, uint32_t b, uint32_t c) {
    return a ^ b ^ c;
}

void own_c(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct own_c_args *const args = arguments;
    const uint32_t *rows = args->p0_data0;
    int64_t rows_shape0 = args->p0_shape0;
    int64_t rows_shape1 = args->p0_shape1;
    uint32_t *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        for (int64_t i = first_x; i < min_i64(last_x, out_len); ++i) {
            uint32_t first = hash_of(&rows[i * rows_shape1], rows_shape1, 1, 1);
            out[i] = xor3(first, hash_of(&rows[i % 4], rows_shape0, rows_shape1, 2), (uint32_t)i);
        }
    }
}

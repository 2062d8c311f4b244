#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct popcount_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint64_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void popcount(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct popcount_args *const args = arguments;
    const uint64_t *words = args->p0_data0;
    int64_t words_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, words_len); ++i) {
            uint64_t rest = words[i];
            int32_t cleared = 0;
            while (rest != 0) {
                rest &= rest - 1;
                cleared += 1;
            }
            int64_t shifted = 0;
            for (int64_t bit = 0; bit < 64; ++bit) {
                shifted += (int64_t)((words[i] >> (uint64_t)bit) & 1);
            }
            int32_t missing = 0;
            uint64_t rest_1 = ~words[i];
            while (rest_1 != 0) {
                missing += (int32_t)(rest_1 & 1);
                rest_1 >>= 1;
            }
            out[i * out_shape1] = cleared;
            out[i * out_shape1 + 1] = shifted;
            out[i * out_shape1 + 2] = missing;
        }
    }
}

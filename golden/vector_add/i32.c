#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct vector_add_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    const int32_t *p1_data0;
    int32_t *p2_data0;
    int64_t p2_shape0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void vector_add(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct vector_add_args *const args = arguments;
    const int32_t *a = args->p0_data0;
    const int32_t *b = args->p1_data0;
    int32_t *out = args->p2_data0;
    int64_t out_len = args->p2_shape0;
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
            out[i] = (uint32_t)a[i] + b[i];
        }
    }
}

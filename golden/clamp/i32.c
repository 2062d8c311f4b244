#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct clamp_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int32_t p2_value0;
    int32_t p3_value0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline int32_t clamped(int32_t value, int32_t low, int32_t high) {
    if (value < low) return low;
    if (value > high) return high;
    return value;
}

static inline int32_t smooth(int32_t value, int32_t low, int32_t high) {
    return (uint32_t)clamped(value, low, high) * clamped((int32_t)((uint32_t)high - value), low, high);
}

void clamp(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct clamp_args *const args = arguments;
    const int32_t *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int32_t low = args->p2_value0;
    int32_t high = args->p3_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, data_len); ++i) {
            out[i] = smooth(data[i], low, high);
        }
    }
}

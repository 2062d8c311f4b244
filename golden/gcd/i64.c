#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct gcd_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int64_t *p0_data0;
    const int64_t *p1_data0;
    int64_t *p2_data0;
    int64_t p2_shape0;
};

// a % b: has the sign of b; 0 where b is 0.
static inline int64_t mod_i64(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t remainder = (int64_t)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (int64_t)(remainder + b) : remainder;
}

// The absolute value; the least integer wraps to itself.
static inline int64_t abs_i64(int64_t x) {
    return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = mod_i64(a, b);
        a = b;
        b = rest;
    }
    return abs_i64(a);
}

void gcd(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct gcd_args *const args = arguments;
    const int64_t *a = args->p0_data0;
    const int64_t *b = args->p1_data0;
    int64_t *out = args->p2_data0;
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
            out[i] = greatest_common_divisor(a[i], b[i]);
        }
    }
}

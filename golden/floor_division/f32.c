#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct floor_division_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const float *p1_data0;
    float *p2_data0;
    float *p3_data0;
};

// a // b: the quotient rounded down, as numpy computes it.
static inline float floordiv_f32(float a, float b) {
    if (b == 0) return a / b;
    const float remainder = fmodf(a, b);
    float quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return copysignf(0.0f, a / b);
    const float whole = floorf(quotient);
    return quotient - whole > 0.5f ? whole + 1 : whole;
}

// a % b: has the sign of b.
static inline float mod_f32(float a, float b) {
    const float remainder = fmodf(a, b);
    if (b == 0) return remainder;
    if (remainder == 0) return copysignf(0.0f, b);
    return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void floor_division(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct floor_division_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    const float *b = args->p1_data0;
    float *quotient = args->p2_data0;
    float *remainder_ = args->p3_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, a_len); ++i) {
            quotient[i] = floordiv_f32(a[i], b[i]) + i % 3;
            remainder_[i] = mod_f32(a[i], b[i]);
        }
    }
}

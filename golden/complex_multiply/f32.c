#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct complex_multiply_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape1;
    float *p2_data0;
    int64_t p2_shape1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline float real_part(float ar, float ai, float br, float bi) {
    return ar * br - ai * bi;
}

static inline float imaginary_part(float ar, float ai, float br, float bi) {
    return ar * bi + ai * br;
}

static inline float squared_length(float re, float im) {
    return real_part(re, im, re, -im);
}

void complex_multiply(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct complex_multiply_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape0 = args->p0_shape0;
    int64_t a_shape1 = args->p0_shape1;
    const float *b = args->p1_data0;
    int64_t b_shape1 = args->p1_shape1;
    float *out = args->p2_data0;
    int64_t out_shape1 = args->p2_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        for (int64_t i = first_x; i < min_i64(last_x, a_shape0); ++i) {
            int64_t at = i * a_shape1;
            int64_t at_1 = i * b_shape1;
            float re = real_part(a[at], a[at + 1], b[at_1], b[at_1 + 1]);
            float im = imaginary_part(a[at], a[at + 1], b[at_1], b[at_1 + 1]);
            out[i * out_shape1] = re;
            out[i * out_shape1 + 1] = im;
            out[i * out_shape1 + 2] = squared_length(re, im) - squared_length(a[at], a[at + 1]);
        }
    }
}

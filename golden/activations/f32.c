#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct activations_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
    int64_t p1_shape1;
};

// The maximum; NaN if an argument is NaN.
static inline float maximum_f32(float a, float b) {
    return a >= b || a != a ? a : b;
}

// The minimum; NaN if an argument is NaN.
static inline float minimum_f32(float a, float b) {
    return a <= b || a != a ? a : b;
}

// -1, 0 or 1; NaN for NaN.
static inline float sign_f32(float x) {
    return x != x ? x : (float)((x > 0) - (x < 0));
}

// x, with 0.0 in place of -0.0.
static inline float positive_zero_f32(float x) {
    return x + 0;
}

// x rounded to decimal digits, ties to even, as numpy computes it.
static inline float round_digits_f32(float x, long long digits) {
    const long long count = digits < -400 ? 400 : digits < 0 ? -digits : digits;
    double power = 1;
    for (long long i = 0; i < count && i < 400; i++) power *= 10;
    const float scale = (float)power;
    return digits < 0 ? rintf(x / scale) * scale : rintf(x * scale) / scale;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void activations(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct activations_args *const args = arguments;
    const float *x = args->p0_data0;
    int64_t x_len = args->p0_shape0;
    float *out = args->p1_data0;
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
        for (int64_t i = first_x; i < min_i64(last_x, x_len); ++i) {
            float value = x[i];
            out[i] = maximum_f32(value, 0.0f);
            out[out_shape1 + i] = value > 0.0f ? value : value * 2.0f;
            out[2 * out_shape1 + i] = minimum_f32(maximum_f32(value, -1.0f), 1.0f);
            out[3 * out_shape1 + i] = sign_f32(value);
            float value_1 = value + 1.0f;
            out[4 * out_shape1 + i] = value_1 * value_1;
            out[5 * out_shape1 + i] = positive_zero_f32((float)(int64_t)floorf(value));
            out[6 * out_shape1 + i] = round_digits_f32(value, -1LL);
        }
    }
}

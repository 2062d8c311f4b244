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
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape1;
};

// The maximum; NaN if an argument is NaN.
static inline int32_t maximum_i32(int32_t a, int32_t b) {
    return b > a ? b : a;
}

// The minimum; NaN if an argument is NaN.
static inline int32_t minimum_i32(int32_t a, int32_t b) {
    return b < a ? b : a;
}

// -1, 0 or 1.
static inline int32_t sign_i32(int32_t x) {
    return (int32_t)((x > 0) - (x < 0));
}

// x rounded to decimal digits, ties to even.
static inline int32_t round_digits_i32(int32_t x, long long digits) {
    if (digits >= 0) return x;
    if (digits < -19) return 0;
    unsigned long long scale = 1, size = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
    for (; digits < 0; digits++) scale *= 10;
    const unsigned long long rest = size % scale, more = scale - rest;
    size -= rest;
    if (rest > more || (rest == more && (size / scale & 1))) size += scale;
    return (int32_t)(x < 0 ? 0 - size : size);
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void activations(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct activations_args *const args = arguments;
    const int32_t *x = args->p0_data0;
    int64_t x_len = args->p0_shape0;
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
        for (int64_t i = first_x; i < min_i64(last_x, x_len); ++i) {
            int32_t value = x[i];
            out[i] = maximum_i32(value, 0);
            out[out_shape1 + i] = value > 0 ? value : (int32_t)((uint32_t)value * 2);
            out[2 * out_shape1 + i] = minimum_i32(maximum_i32(value, -1), 1);
            out[3 * out_shape1 + i] = sign_i32(value);
            int32_t value_1 = (uint32_t)value + 1;
            out[4 * out_shape1 + i] = (uint32_t)value_1 * value_1;
            out[5 * out_shape1 + i] = value;
            out[6 * out_shape1 + i] = round_digits_i32(value, -1LL);
        }
    }
}

#include <math.h>
#include <stdint.h>

typedef uint16_t bfloat16;
static inline float float32_from_bfloat16(bfloat16 x) {
    union { uint32_t bits; float value; } out = {(uint32_t)x << 16};
    return out.value;
}
static inline bfloat16 bfloat16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    if (x != x) return (bfloat16)(in.bits >> 16 | 0x40);
    return (bfloat16)((in.bits + 0x7fff + (in.bits >> 16 & 1)) >> 16);
}
static inline bfloat16 bfloat16_from_double(double x) {
    union { float value; uint32_t bits; } nearest = {(float)x};
    if (fabs((double)nearest.value) > fabs(x)) nearest.bits -= 1;
    if ((double)nearest.value != x && x == x) nearest.bits |= 1;  // rounded to odd
    return bfloat16_from_float(nearest.value);
}

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct saxpy_half_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    bfloat16 p0_value0;
    const bfloat16 *p1_data0;
    int64_t p1_shape0;
    const bfloat16 *p2_data0;
    bfloat16 *p3_data0;
};

// a * b, rounded once
static inline bfloat16 mul_bf16(bfloat16 a, bfloat16 b) {
    return bfloat16_from_float(float32_from_bfloat16(a) * float32_from_bfloat16(b));
}

// a / b, rounded once
static inline bfloat16 div_bf16(bfloat16 a, bfloat16 b) {
    return bfloat16_from_float(float32_from_bfloat16(a) / float32_from_bfloat16(b));
}

// a + b, rounded once
static inline bfloat16 add_bf16(bfloat16 a, bfloat16 b) {
    return bfloat16_from_float(float32_from_bfloat16(a) + float32_from_bfloat16(b));
}

// -a
static inline bfloat16 neg_bf16(bfloat16 a) {
    return bfloat16_from_float(-float32_from_bfloat16(a));
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void saxpy_half(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct saxpy_half_args *const args = arguments;
    bfloat16 a = args->p0_value0;
    const bfloat16 *x = args->p1_data0;
    int64_t x_len = args->p1_shape0;
    const bfloat16 *y = args->p2_data0;
    bfloat16 *out = args->p3_data0;
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
            bfloat16 value = add_bf16(mul_bf16(a, x[i]), div_bf16(y[i], bfloat16_from_float(3.0f)));
            out[i] = float32_from_bfloat16(value) < 0.0f ? neg_bf16(value) : value;
        }
    }
}

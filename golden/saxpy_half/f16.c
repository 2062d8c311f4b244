#include <math.h>
#include <stdint.h>

#ifdef __FLT16_MAX__
typedef _Float16 float16;
static inline float float32_from_float16(float16 x) { return (float)x; }
static inline float16 float16_from_float(float x) { return (float16)x; }
static inline float16 float16_from_double(double x) { return (float16)x; }
#else
typedef uint16_t float16;
static inline float float32_from_float16(float16 x) {
    union { uint32_t bits; float value; } out;
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = x & 0x7fff;
    if (magnitude < 0x400) return (sign ? -1.0f : 1.0f) * (float)magnitude / 16777216.0f;
    const uint32_t shifted = magnitude << 13;
    out.bits = sign | (magnitude < 0x7c00 ? shifted + 0x38000000 : shifted | 0x7f800000);
    return out.value;
}
static inline float16 float16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    const uint32_t sign = in.bits >> 16 & 0x8000, magnitude = in.bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (float16)(sign | 0x7e00);
    if (magnitude >= 0x47800000) return (float16)(sign | 0x7c00);
    if (magnitude < 0x38800000) return (float16)(sign | (uint32_t)rintf(fabsf(x) * 16777216.0f));
    return (float16)(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}
static inline float16 float16_from_double(double x) {
    union { float value; uint32_t bits; } nearest = {(float)x};
    if (fabs((double)nearest.value) > fabs(x)) nearest.bits -= 1;
    if ((double)nearest.value != x) nearest.bits |= 1;  // to odd, so that the next rounding is right
    return float16_from_float(nearest.value);
}
#endif

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct saxpy_half_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    float16 p0_value0;
    const float16 *p1_data0;
    int64_t p1_shape0;
    const float16 *p2_data0;
    float16 *p3_data0;
};

// a * b, rounded once
static inline float16 mul_f16(float16 a, float16 b) {
    return float16_from_float(float32_from_float16(a) * float32_from_float16(b));
}

// a / b, rounded once
static inline float16 div_f16(float16 a, float16 b) {
    return float16_from_float(float32_from_float16(a) / float32_from_float16(b));
}

// a + b, rounded once
static inline float16 add_f16(float16 a, float16 b) {
    return float16_from_float(float32_from_float16(a) + float32_from_float16(b));
}

// -a
static inline float16 neg_f16(float16 a) {
    return float16_from_float(-float32_from_float16(a));
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void saxpy_half(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct saxpy_half_args *const args = arguments;
    float16 a = args->p0_value0;
    const float16 *x = args->p1_data0;
    int64_t x_len = args->p1_shape0;
    const float16 *y = args->p2_data0;
    float16 *out = args->p3_data0;
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
            float16 value = add_f16(mul_f16(a, x[i]), div_f16(y[i], float16_from_float(3.0f)));
            out[i] = float32_from_float16(value) < 0.0f ? neg_f16(value) : value;
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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
    union { float value; uint32_t bits; } near = {(float)x};
    if (fabs((double)near.value) > fabs(x)) near.bits -= 1;
    if ((double)near.value != x && x == x) near.bits |= 1;  // rounded to odd
    return bfloat16_from_float(near.value);
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

void saxpy_half(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct saxpy_half_args *const args = arguments;
    bfloat16 a = args->p0_value0;
    const bfloat16 *x = args->p1_data0;
    int64_t x_len = args->p1_shape0;
    const bfloat16 *y = args->p2_data0;
    bfloat16 *out = args->p3_data0;
    struct dim3 gridDim;
    gridDim.x = args->gridDim[0];
    gridDim.y = args->gridDim[1];
    gridDim.z = args->gridDim[2];
    struct dim3 blockDim;
    blockDim.x = args->blockDim[0];
    blockDim.y = args->blockDim[1];
    blockDim.z = args->blockDim[2];
    for (int64_t block = first_block; block < last_block; ++block) {
        struct dim3 blockIdx;
        blockIdx.x = block % gridDim.x;
        blockIdx.y = (block / gridDim.x) % gridDim.y;
        blockIdx.z = (block / gridDim.x) / gridDim.y;
        struct dim3 threadIdx;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i < x_len) {
                        bfloat16 value = add_bf16(mul_bf16(a, x[i]), div_bf16(y[i], bfloat16_from_float(3.0f)));
                        out[i] = float32_from_bfloat16(value) < 0.0f ? neg_bf16(value) : value;
                    }
                }
            }
        }
    }
}

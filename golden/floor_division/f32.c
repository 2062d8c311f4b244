#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

void floor_division(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct floor_division_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    const float *b = args->p1_data0;
    float *quotient = args->p2_data0;
    float *remainder_ = args->p3_data0;
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
                    if (i < a_len) {
                        quotient[i] = floordiv_f32(a[i], b[i]) + (float)(i % 3);
                        remainder_[i] = mod_f32(a[i], b[i]);
                    }
                }
            }
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

// The greater, NaN where one is.
static inline float maximum_f32(float a, float b) {
    return a >= b || a != a ? a : b;
}

// The lesser, NaN where one is.
static inline float minimum_f32(float a, float b) {
    return a <= b || a != a ? a : b;
}

// -1, 0 or 1; NaN of NaN.
static inline float sign_f32(float x) {
    return x != x ? x : (float)((x > 0) - (x < 0));
}

// x to a number of decimal digits, the even one of two, as numpy computes it.
static inline float round_digits_f32(float x, long long digits) {
    const long long count = digits < -400 ? 400 : digits < 0 ? -digits : digits;
    double power = 1;
    for (long long i = 0; i < count && i < 400; i++) power *= 10;
    const float scale = (float)power;
    return digits < 0 ? rintf(x / scale) * scale : rintf(x * scale) / scale;
}

void activations(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct activations_args *const args = arguments;
    const float *x = args->p0_data0;
    int64_t x_len = args->p0_shape0;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
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
                        float value = x[i];
                        out[0 * out_shape1 + i] = maximum_f32(value, 0.0f);
                        out[1 * out_shape1 + i] = value > 0.0f ? value : value * 2.0f;
                        out[2 * out_shape1 + i] = minimum_f32(maximum_f32(value, -1.0f), 1.0f);
                        out[3 * out_shape1 + i] = sign_f32(value);
                        float value_1 = value + 1.0f;
                        out[4 * out_shape1 + i] = value_1 * value_1;
                        out[5 * out_shape1 + i] = (int64_t)floorf(value);
                        out[6 * out_shape1 + i] = round_digits_f32(value, -1LL);
                    }
                }
            }
        }
    }
}

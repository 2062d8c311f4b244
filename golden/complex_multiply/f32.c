#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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
                    if (i < a_shape0) {
                        float re = real_part(a[i * a_shape1], a[i * a_shape1 + 1], b[i * b_shape1], b[i * b_shape1 + 1]);
                        float im = imaginary_part(a[i * a_shape1], a[i * a_shape1 + 1], b[i * b_shape1], b[i * b_shape1 + 1]);
                        out[i * out_shape1] = re;
                        out[i * out_shape1 + 1] = im;
                        out[i * out_shape1 + 2] = squared_length(re, im) - squared_length(a[i * a_shape1], a[i * a_shape1 + 1]);
                    }
                }
            }
        }
    }
}

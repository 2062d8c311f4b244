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
    const double *p1_data0;
    int64_t p1_shape1;
    double *p2_data0;
    int64_t p2_shape1;
};

static inline double real_part(float ar, float ai, double br, double bi) {
    return (double)ar * br - (double)ai * bi;
}

static inline double imaginary_part(float ar, float ai, double br, double bi) {
    return (double)ar * bi + (double)ai * br;
}

static inline double real_part_1(double ar, double ai, double br, double bi) {
    return ar * br - ai * bi;
}

static inline double squared_length(double re, double im) {
    return real_part_1(re, im, re, -im);
}

static inline float real_part_2(float ar, float ai, float br, float bi) {
    return ar * br - ai * bi;
}

static inline float squared_length_1(float re, float im) {
    return real_part_2(re, im, re, -im);
}

void complex_multiply(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct complex_multiply_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape0 = args->p0_shape0;
    int64_t a_shape1 = args->p0_shape1;
    const double *b = args->p1_data0;
    int64_t b_shape1 = args->p1_shape1;
    double *out = args->p2_data0;
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
                        double re = real_part(a[i * a_shape1], a[i * a_shape1 + 1], b[i * b_shape1], b[i * b_shape1 + 1]);
                        double im = imaginary_part(a[i * a_shape1], a[i * a_shape1 + 1], b[i * b_shape1], b[i * b_shape1 + 1]);
                        out[i * out_shape1] = re;
                        out[i * out_shape1 + 1] = im;
                        out[i * out_shape1 + 2] = squared_length(re, im) - (double)squared_length_1(a[i * a_shape1], a[i * a_shape1 + 1]);
                    }
                }
            }
        }
    }
}

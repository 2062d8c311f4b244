#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct softmax_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape1;
    int64_t p0_stride0;
    int64_t p0_stride1;
    float *p1_data0;
    int64_t p1_stride0;
    int64_t p1_stride1;
};

// The greater, as Python chooses: the first where neither is.
static inline float max_f32(float a, float b) {
    return b > a ? b : a;
}

void softmax(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct softmax_args *const args = arguments;
    const float *logits = args->p0_data0;
    int64_t logits_shape1 = args->p0_shape1;
    int64_t logits_stride0 = args->p0_stride0;
    int64_t logits_stride1 = args->p0_stride1;
    float *out = args->p1_data0;
    int64_t out_stride0 = args->p1_stride0;
    int64_t out_stride1 = args->p1_stride1;
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
        float partial[32];
        float greatest[32];
        int64_t row = blockIdx.x;
        int64_t columns = logits_shape1;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t tid = threadIdx.x;
                    greatest[thread] = -INFINITY;
                    for (int64_t column = tid; column < columns; column += 32) {
                        greatest[thread] = max_f32(greatest[thread], logits[row * logits_stride0 + column * logits_stride1]);
                    }
                    partial[tid] = greatest[thread];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    for (int64_t k = 0; k < 32; ++k) {
                        greatest[thread] = max_f32(greatest[thread], partial[k]);
                    }
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    float total = 0.0f;
                    int64_t tid = threadIdx.x;
                    for (int64_t column = tid; column < columns; column += 32) {
                        total += expf(logits[row * logits_stride0 + column * logits_stride1] - greatest[thread]);
                    }
                    partial[tid] = total;
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t tid = threadIdx.x;
                    float total;
                    total = 0.0f;
                    for (int64_t k = 0; k < 32; ++k) {
                        total += partial[k];
                    }
                    for (int64_t column = tid; column < columns; column += 32) {
                        out[row * out_stride0 + column * out_stride1] = expf(logits[row * logits_stride0 + column * logits_stride1] - greatest[thread]) / total;
                    }
                }
            }
        }
    }
}

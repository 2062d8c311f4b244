#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct dot_product_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    const float *p1_data0;
    int64_t p1_stride0;
    float *p2_data0;
};

// *place += value, in one step; gives the old value.
static inline float atomic_add_f32(float *place, float value) {
    float old, next;
    __atomic_load(place, &old, __ATOMIC_RELAXED);
    do {
        next = old + value;
    } while (!__atomic_compare_exchange(place, &old, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

void dot_product(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct dot_product_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    int64_t a_stride0 = args->p0_stride0;
    const float *b = args->p1_data0;
    int64_t b_stride0 = args->p1_stride0;
    float *out = args->p2_data0;
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
        float partial[64];
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    float total = 0.0f;
                    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < a_len; i += gridDim.x * blockDim.x) {
                        total += a[i * a_stride0] * b[i * b_stride0];
                    }
                    partial[tid] = total;
                }
            }
        }
        int64_t half = 32;
        while (half > 0) {
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        int64_t tid = threadIdx.x;
                        if (tid < half) {
                            partial[tid] += partial[tid + half];
                        }
                    }
                }
            }
            half /= 2;
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    if (tid == 0) {
                        atomic_add_f32(&out[0], partial[0]);
                    }
                }
            }
        }
    }
}

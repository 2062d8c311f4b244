#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct block_max_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
    int32_t *p2_data0;
};

// The lesser, as Python chooses: the first where neither is.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// The greater, as Python chooses: the first where neither is.
static inline float max_f32(float a, float b) {
    return b > a ? b : a;
}

void block_max(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct block_max_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    float *best = args->p1_data0;
    int32_t *place = args->p2_data0;
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
        float value[64];
        int32_t where[64];
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    value[tid] = data[min_i64(i, data_len - 1)];
                    where[tid] = min_i64(i, data_len - 1);
                }
            }
        }
        int64_t step = 32;
        while (step != 0) {
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        int64_t tid = threadIdx.x;
                        if (tid < step && value[tid] < value[tid + step]) {
                            value[tid] = max_f32(value[tid], value[tid + step]);
                            where[tid] = where[tid + step];
                        }
                    }
                }
            }
            step >>= 1;
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    if (tid == 0) {
                        best[blockIdx.x] = value[0];
                        place[blockIdx.x] = where[0];
                    }
                }
            }
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct scan_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape0;
};

void scan(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct scan_args *const args = arguments;
    const int32_t *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
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
        int32_t sums[64];
        int32_t addend[64];
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    sums[tid] = i < data_len ? data[i] : 0;
                }
            }
        }
        int64_t distance = 1;
        while (distance < 64) {
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        addend[thread] = 0;
                        int64_t tid = threadIdx.x;
                        if (tid >= distance) {
                            addend[thread] = sums[tid - distance];
                        }
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        int64_t tid = threadIdx.x;
                        sums[tid] += (uint32_t)addend[thread];
                    }
                }
            }
            distance *= 2;
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i < out_len) {
                        out[i] = sums[tid];
                    }
                }
            }
        }
    }
}

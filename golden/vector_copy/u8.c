#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { uint8_t x, y, z, w; } __attribute__((aligned(4))) uchar4;

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct vector_copy_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uchar4 *p0_data0;
    int64_t p0_shape0;
    uchar4 *p1_data0;
    uint8_t p2_value0;
};

void vector_copy(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct vector_copy_args *const args = arguments;
    const uchar4 *source = args->p0_data0;
    int64_t source_len = args->p0_shape0;
    uchar4 *target = args->p1_data0;
    uint8_t gain = args->p2_value0;
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
                    if (i < source_len) {
                        uchar4 v = source[i];
                        v.w = (uint32_t)v.w * (uint32_t)gain;
                        target[i] = v;
                    }
                }
            }
        }
    }
}

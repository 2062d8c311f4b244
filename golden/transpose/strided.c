#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct transpose_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    int64_t p0_stride0;
    int64_t p0_stride1;
    float *p1_data0;
    int64_t p1_shape0;
    int64_t p1_shape1;
    int64_t p1_stride0;
    int64_t p1_stride1;
};

void transpose(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct transpose_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_shape0 = args->p0_shape0;
    int64_t data_shape1 = args->p0_shape1;
    int64_t data_stride0 = args->p0_stride0;
    int64_t data_stride1 = args->p0_stride1;
    float *out = args->p1_data0;
    int64_t out_shape0 = args->p1_shape0;
    int64_t out_shape1 = args->p1_shape1;
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
        float tile[8][9];
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tx = threadIdx.x;
                    int64_t ty = threadIdx.y;
                    int64_t x = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t y = blockIdx.y * blockDim.y + threadIdx.y;
                    if (y < data_shape0 && x < data_shape1) {
                        tile[ty][tx] = data[y * data_stride0 + x * data_stride1];
                    }
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tx = threadIdx.x;
                    int64_t ty = threadIdx.y;
                    int64_t x;
                    int64_t y;
                    x = blockIdx.y * 8 + tx;
                    y = blockIdx.x * 8 + ty;
                    if (y < out_shape0 && x < out_shape1) {
                        out[y * out_stride0 + x * out_stride1] = tile[tx][ty];
                    }
                }
            }
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct julia_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    uint8_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float p1_value0;
    float p2_value0;
};

static inline int64_t escape_time(float zr, float zi, float cr, float ci) {
    for (int64_t count = 0; count < 32; ++count) {
        float square_r = zr * zr;
        float square_i = zi * zi;
        if (square_r + square_i > 4.0f) return count;
        zi = 2.0f * zr * zi + ci;
        zr = square_r - square_i + cr;
    }
    return 32;
}

void julia(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct julia_args *const args = arguments;
    uint8_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    float cr = args->p1_value0;
    float ci = args->p2_value0;
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
                    int64_t x = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t y = blockIdx.y * blockDim.y + threadIdx.y;
                    int64_t height = out_shape0;
                    int64_t width = out_shape1;
                    if (x < width && y < height) {
                        float zr = (float)((double)x - (double)width / 2.0) * 3.0f / (float)width;
                        float zi = (float)((double)y - (double)height / 2.0) * 3.0f / (float)height;
                        out[y * out_shape1 + x] = escape_time(zr, zi, cr, ci);
                    }
                }
            }
        }
    }
}

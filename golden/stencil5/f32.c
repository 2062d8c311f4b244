#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct stencil5_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float *p1_data0;
    int64_t p1_shape1;
    float p2_value0;
};

void stencil5(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct stencil5_args *const args = arguments;
    const float *u = args->p0_data0;
    int64_t u_shape0 = args->p0_shape0;
    int64_t u_shape1 = args->p0_shape1;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    float rate = args->p2_value0;
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
                    int64_t height = u_shape0;
                    int64_t width = u_shape1;
                    if (x >= width || y >= height) continue;
                    if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
                        float around = u[(y - 1) * u_shape1 + x] + u[(y + 1) * u_shape1 + x] + u[y * u_shape1 + x - 1] + u[y * u_shape1 + x + 1];
                        out[y * out_shape1 + x] = u[y * u_shape1 + x] + rate * (around - 4.0f * u[y * u_shape1 + x]);
                    } else {
                        out[y * out_shape1 + x] = u[y * u_shape1 + x];
                    }
                }
            }
        }
    }
}

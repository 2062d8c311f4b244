#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct stencil3d_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    int64_t p0_shape2;
    float *p1_data0;
    int64_t p1_shape1;
    int64_t p1_shape2;
};

void stencil3d(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct stencil3d_args *const args = arguments;
    const float *u = args->p0_data0;
    int64_t u_shape0 = args->p0_shape0;
    int64_t u_shape1 = args->p0_shape1;
    int64_t u_shape2 = args->p0_shape2;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    int64_t out_shape2 = args->p1_shape2;
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
                    int64_t z = blockIdx.z * blockDim.z + threadIdx.z;
                    int64_t depth = u_shape0;
                    int64_t height = u_shape1;
                    int64_t width = u_shape2;
                    if (0 < x && x < width - 1 && (0 < y && y < height - 1) && (0 < z && z < depth - 1)) {
                        float total = u[((z - 1) * u_shape1 + y) * u_shape2 + x] + u[((z + 1) * u_shape1 + y) * u_shape2 + x];
                        total += u[(z * u_shape1 + y - 1) * u_shape2 + x] + u[(z * u_shape1 + y + 1) * u_shape2 + x];
                        total += u[(z * u_shape1 + y) * u_shape2 + x - 1] + u[(z * u_shape1 + y) * u_shape2 + x + 1];
                        out[(z * out_shape1 + y) * out_shape2 + x] = total / 6.0f;
                    }
                }
            }
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct matmul_tiled_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape1;
    float *p2_data0;
    int64_t p2_shape0;
    int64_t p2_shape1;
};

void matmul_tiled(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct matmul_tiled_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape0 = args->p0_shape0;
    int64_t a_shape1 = args->p0_shape1;
    const float *b = args->p1_data0;
    int64_t b_shape1 = args->p1_shape1;
    float *c = args->p2_data0;
    int64_t c_shape0 = args->p2_shape0;
    int64_t c_shape1 = args->p2_shape1;
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
        float tile_a[16][16];
        float tile_b[16][16];
        float total[256];
        int64_t inner = a_shape1;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    total[thread] = 0.0f;
                }
            }
        }
        for (int64_t start = 0; start < inner; start += 16) {
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        int64_t tx = threadIdx.x;
                        int64_t ty = threadIdx.y;
                        int64_t column = blockIdx.x * blockDim.x + threadIdx.x;
                        int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
                        if (row < a_shape0 && start + tx < inner) {
                            tile_a[ty][tx] = a[row * a_shape1 + start + tx];
                        } else {
                            tile_a[ty][tx] = 0.0f;
                        }
                        if (start + ty < inner && column < b_shape1) {
                            tile_b[ty][tx] = b[(start + ty) * b_shape1 + column];
                        } else {
                            tile_b[ty][tx] = 0.0f;
                        }
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        int64_t tx = threadIdx.x;
                        int64_t ty = threadIdx.y;
                        for (int64_t k = 0; k < 16; ++k) {
                            total[thread] += tile_a[ty][k] * tile_b[k][tx];
                        }
                    }
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t column = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
                    if (row < c_shape0 && column < c_shape1) {
                        c[row * c_shape1 + column] = total[thread];
                    }
                }
            }
        }
    }
}

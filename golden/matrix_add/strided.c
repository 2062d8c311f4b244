#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct matrix_add_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_stride0;
    int64_t p0_stride1;
    const float *p1_data0;
    int64_t p1_stride0;
    int64_t p1_stride1;
    float *p2_data0;
    int64_t p2_shape0;
    int64_t p2_shape1;
    int64_t p2_stride0;
    int64_t p2_stride1;
};

void matrix_add(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct matrix_add_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_stride0 = args->p0_stride0;
    int64_t a_stride1 = args->p0_stride1;
    const float *b = args->p1_data0;
    int64_t b_stride0 = args->p1_stride0;
    int64_t b_stride1 = args->p1_stride1;
    float *c = args->p2_data0;
    int64_t c_shape0 = args->p2_shape0;
    int64_t c_shape1 = args->p2_shape1;
    int64_t c_stride0 = args->p2_stride0;
    int64_t c_stride1 = args->p2_stride1;
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
                    int64_t j = blockIdx.y * blockDim.y + threadIdx.y;
                    if (i < c_shape0 && j < c_shape1) {
                        c[i * c_stride0 + j * c_stride1] = a[i * a_stride0 + j * a_stride1] + b[i * b_stride0 + j * b_stride1];
                    }
                }
            }
        }
    }
}

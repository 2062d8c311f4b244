#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct matmul_naive_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape1;
    const double *p1_data0;
    int64_t p1_shape1;
    double *p2_data0;
    int64_t p2_shape0;
    int64_t p2_shape1;
};

void matmul_naive(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct matmul_naive_args *const args = arguments;
    const double *a = args->p0_data0;
    int64_t a_shape1 = args->p0_shape1;
    const double *b = args->p1_data0;
    int64_t b_shape1 = args->p1_shape1;
    double *c = args->p2_data0;
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
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t column = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
                    if (row < c_shape0 && column < c_shape1) {
                        double total = 0.0;
                        for (int64_t k = 0; k < a_shape1; ++k) {
                            total += a[row * a_shape1 + k] * b[k * b_shape1 + column];
                        }
                        c[row * c_shape1 + column] = total;
                    }
                }
            }
        }
    }
}

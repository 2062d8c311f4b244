#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct floor_division_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int8_t *p0_data0;
    int64_t p0_shape0;
    const int8_t *p1_data0;
    int8_t *p2_data0;
    int8_t *p3_data0;
};

// a // b: rounds down; 0 where b is 0.
static inline int8_t floordiv_i8(int8_t a, int8_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int8_t)(0 - (uint32_t)a);
    return (int8_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

// a % b: has the sign of b; 0 where b is 0.
static inline int8_t mod_i8(int8_t a, int8_t b) {
    if (b == 0 || b == -1) return 0;
    const int8_t remainder = (int8_t)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (int8_t)(remainder + b) : remainder;
}

void floor_division(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct floor_division_args *const args = arguments;
    const int8_t *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    const int8_t *b = args->p1_data0;
    int8_t *quotient = args->p2_data0;
    int8_t *remainder_ = args->p3_data0;
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
                    if (i < a_len) {
                        quotient[i] = floordiv_i8(a[i], b[i]) + (int8_t)(i % 3);
                        remainder_[i] = mod_i8(a[i], b[i]);
                    }
                }
            }
        }
    }
}

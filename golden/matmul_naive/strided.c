#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct matmul_naive_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape1;
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

// Tells the compiler that n >= 1, so that it does not test whether a loop up to n is empty.
static inline void at_least_1_i64(int64_t n) {
    if (n < 1) __builtin_unreachable();
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void matmul_naive(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct matmul_naive_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape1 = args->p0_shape1;
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
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        const int64_t first_y = ((block / gridDim.x) % gridDim.y) * blockDim.y;
        const int64_t last_y = first_y + blockDim.y;
        at_least_1_i64(a_shape1);
        for (int64_t row = first_y; row < min_i64(last_y, c_shape0); ++row) {
            #pragma omp simd
            for (int64_t column = first_x; column < min_i64(last_x, c_shape1); ++column) {
                float total = 0.0f;
                for (int64_t k = 0; k < a_shape1; ++k) {
                    total += a[row * a_stride0 + k * a_stride1] * b[k * b_stride0 + column * b_stride1];
                }
                c[row * c_stride0 + column * c_stride1] = total;
            }
        }
    }
}

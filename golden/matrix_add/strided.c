#include <stdint.h>

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

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

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
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.y + 1) * gridDim.y;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = ((block / gridDim.y) % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + blockDim.x;
        const int64_t first_y = (block % gridDim.y) * blockDim.y;
        const int64_t last_y = first_y + (next_block - block) * blockDim.y;
        for (int64_t i = first_x; i < min_i64(last_x, c_shape0); ++i) {
            #pragma omp simd
            for (int64_t j = first_y; j < min_i64(last_y, c_shape1); ++j) {
                c[i * c_stride0 + j * c_stride1] = a[i * a_stride0 + j * a_stride1] + b[i * b_stride0 + j * b_stride1];
            }
        }
    }
}

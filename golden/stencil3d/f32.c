#include <stdint.h>

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

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void stencil3d(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct stencil3d_args *const args = arguments;
    const float *u = args->p0_data0;
    int64_t u_shape0 = args->p0_shape0;
    int64_t u_shape1 = args->p0_shape1;
    int64_t u_shape2 = args->p0_shape2;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    int64_t out_shape2 = args->p1_shape2;
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
        const int64_t first_z = ((block / gridDim.x) / gridDim.y) * blockDim.z;
        const int64_t last_z = first_z + blockDim.z;
        int64_t depth = u_shape0;
        int64_t height = u_shape1;
        int64_t width = u_shape2;
        for (int64_t z = max_i64(first_z, 1LL); z < min_i64(last_z, depth - 1); ++z) {
            for (int64_t y = max_i64(first_y, 1LL); y < min_i64(last_y, height - 1); ++y) {
                #pragma omp simd
                for (int64_t x = max_i64(first_x, 1LL); x < min_i64(last_x, width - 1); ++x) {
                    int64_t row = (z * height + y) * width;
                    float total = u[row + x - height * width] + u[row + x + height * width];
                    total += u[row + x - width] + u[row + x + width];
                    total += u[row + x - 1] + u[row + x + 1];
                    out[(z * out_shape1 + y) * out_shape2 + x] = total / 6.0f;
                }
            }
        }
    }
}

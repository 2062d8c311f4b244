#include <stdint.h>

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

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void stencil5(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct stencil5_args *const args = arguments;
    const float *u = args->p0_data0;
    int64_t u_shape0 = args->p0_shape0;
    int64_t u_shape1 = args->p0_shape1;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    float rate = args->p2_value0;
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
        int64_t height = u_shape0;
        int64_t width = u_shape1;
        for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
                    float around = u[y * width + x - width] + u[y * width + x + width] + u[y * width + x - 1] + u[y * width + x + 1];
                    out[y * out_shape1 + x] = u[y * width + x] + rate * (around - 4.0f * u[y * width + x]);
                } else {
                    out[y * out_shape1 + x] = u[y * width + x];
                }
            }
        }
    }
}

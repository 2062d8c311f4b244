#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct polynomial_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape0;
    double *p1_data0;
    int64_t p1_shape1;
};

void polynomial(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct polynomial_args *const args = arguments;
    const double *points = args->p0_data0;
    int64_t points_len = args->p0_shape0;
    double *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        for (int64_t i = first_x; i < last_x; ++i) {
            double coefficient[2][6];
            if (i >= points_len) continue;
            for (int64_t k = 0; k < 6; ++k) {
                coefficient[0][k] = 1.0 / (k + 1);
                coefficient[1][k] = (k - 2) * 0.25;
            }
            for (int64_t row = 0; row < 2; ++row) {
                double value = 0.0;
                for (int64_t k = 5; k > -1; --k) {
                    value = value * points[i] + coefficient[row][k];
                }
                out[row * out_shape1 + i] = value;
            }
        }
    }
}

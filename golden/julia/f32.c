#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct julia_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    uint8_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float p1_value0;
    float p2_value0;
};

// The lesser, as Python chooses: the first where neither is.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline int64_t escape_time(float zr, float zi, float cr, float ci) {
    for (int64_t count = 0; count < 32; ++count) {
        float square_r = zr * zr;
        float square_i = zi * zi;
        if (square_r + square_i > 4.0f) return count;
        zi = 2.0f * zr * zi + ci;
        zr = square_r - square_i + cr;
    }
    return 32;
}

void julia(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct julia_args *const args = arguments;
    uint8_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    float cr = args->p1_value0;
    float ci = args->p2_value0;
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
        int64_t height = out_shape0;
        int64_t width = out_shape1;
        for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
            float zi = (float)((double)y - (double)height / 2.0) * 3.0f / (float)height;
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                float zr = (float)((double)x - (double)width / 2.0) * 3.0f / (float)width;
                out[y * out_shape1 + x] = escape_time(zr, zi, cr, ci);
            }
        }
    }
}

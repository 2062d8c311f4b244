#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct mandelbrot_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    int32_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float p1_value0;
    float p2_value0;
    float p3_value0;
};

// The lesser, as Python chooses: the first where neither is.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void mandelbrot(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct mandelbrot_args *const args = arguments;
    int32_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    float left = args->p1_value0;
    float top = args->p2_value0;
    float step = args->p3_value0;
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
        for (int64_t y = first_y; y < min_i64(last_y, out_shape0); ++y) {
            float ci = top + step * (float)y;
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, out_shape1); ++x) {
                float cr = left + step * (float)x;
                float zr = 0.0f;
                float zi = 0.0f;
                int64_t count = 0;
                while (count < 40 && zr * zr + zi * zi < 4.0f) {
                    float following = zr * zr - zi * zi + cr;
                    zi = 2.0f * zr * zi + ci;
                    zr = following;
                    count += 1;
                }
                out[y * out_shape1 + x] = count;
            }
        }
    }
}

#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct grayscale_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint8_t *p0_data0;
    int64_t p0_shape1;
    int64_t p0_shape2;
    uint8_t *p1_data0;
    int64_t p1_shape0;
    int64_t p1_shape1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void grayscale(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct grayscale_args *const args = arguments;
    const uint8_t *rgb = args->p0_data0;
    int64_t rgb_shape1 = args->p0_shape1;
    int64_t rgb_shape2 = args->p0_shape2;
    uint8_t *gray = args->p1_data0;
    int64_t gray_shape0 = args->p1_shape0;
    int64_t gray_shape1 = args->p1_shape1;
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
        for (int64_t y = first_y; y < min_i64(last_y, gray_shape0); ++y) {
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, gray_shape1); ++x) {
                int64_t at = (y * rgb_shape1 + x) * rgb_shape2;
                int64_t red = rgb[at];
                int64_t green = rgb[at + 1];
                int64_t blue = rgb[at + 2];
                gray[y * gray_shape1 + x] = (77 * red + 150 * green + 29 * blue) >> 8;
            }
        }
    }
}

#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct life_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint8_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    uint8_t *p1_data0;
    int64_t p1_shape1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void life(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct life_args *const args = arguments;
    const uint8_t *alive = args->p0_data0;
    int64_t alive_shape0 = args->p0_shape0;
    int64_t alive_shape1 = args->p0_shape1;
    uint8_t *following = args->p1_data0;
    int64_t following_shape1 = args->p1_shape1;
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
        int64_t height = alive_shape0;
        int64_t width = alive_shape1;
        for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                uint8_t neighbours = 0;
                for (int64_t dy = -1; dy < 2; ++dy) {
                    for (int64_t dx = -1; dx < 2; ++dx) {
                        if (dx == 0 && dy == 0) continue;
                        int64_t at = y + dy;
                        int64_t at_1 = x + dx;
                        neighbours += alive[(at < 0 ? at + height : at < height ? at : at - height) * width + (at_1 < 0 ? at_1 + width : at_1 < width ? at_1 : at_1 - width)];
                    }
                }
                bool survives = neighbours == 3 || (neighbours == 2 && alive[y * width + x] == 1);
                following[y * following_shape1 + x] = survives ? 1 : 0LL;
            }
        }
    }
}

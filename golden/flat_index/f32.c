#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct flat_index_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    float *p1_data0;
    int64_t p2_value0;
    int64_t p3_value0;
};

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline int64_t clamped(int64_t position, int64_t length) {
    return min_i64(max_i64(position, 0LL), length - 1);
}

void flat_index(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct flat_index_args *const args = arguments;
    const float *pixels = args->p0_data0;
    float *out = args->p1_data0;
    int64_t width = args->p2_value0;
    int64_t height = args->p3_value0;
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
        for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                int64_t here = y * width + x;
                int64_t above = clamped(y - 1, height) * width + x;
                float total = pixels[here] + pixels[above];
                for (int64_t dx = -1; dx < 2; ++dx) {
                    total += pixels[y * width + clamped(x + dx, width)];
                }
                out[here] = total;
            }
        }
    }
}

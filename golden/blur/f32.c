#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct blur_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    const float *p1_data0;
    float *p2_data0;
    int64_t p2_shape1;
};

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void blur(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct blur_args *const args = arguments;
    const float *image = args->p0_data0;
    int64_t image_shape0 = args->p0_shape0;
    int64_t image_shape1 = args->p0_shape1;
    const float *weights = args->p1_data0;
    float *out = args->p2_data0;
    int64_t out_shape1 = args->p2_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float tile[12][12];
        int64_t height = image_shape0;
        int64_t width = image_shape1;
        int64_t left = blockIdx.x * 8 - 2;
        int64_t top = blockIdx.y * 8 - 2;
        for (int64_t ty = 0; ty < 8; ++ty) {
            for (int64_t tx = 0; tx < 8; ++tx) {
                for (int64_t row = ty; row < 12; row += 8) {
                    for (int64_t column = tx; column < 12; column += 8) {
                        int64_t y = min_i64(max_i64(top + row, 0LL), height - 1);
                        int64_t x = min_i64(max_i64(left + column, 0LL), width - 1);
                        tile[row][column] = image[y * width + x];
                    }
                }
            }
        }
        for (int64_t ty = 0; ty < min_i64(8LL, height - blockIdx.y * 8); ++ty) {
            int64_t y = blockIdx.y * 8 + ty;
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(8LL, width - blockIdx.x * 8); ++tx) {
                int64_t x = blockIdx.x * 8 + tx;
                float total = 0.0f;
                for (int64_t dy = 0; dy < 5; ++dy) {
                    for (int64_t dx = 0; dx < 5; ++dx) {
                        float weight = weights[dy] * weights[dx];
                        total += weight * tile[ty + dy][tx + dx];
                    }
                }
                out[y * out_shape1 + x] = total;
            }
        }
    }
}

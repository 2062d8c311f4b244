#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct sobel_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float *p1_data0;
    int64_t p1_shape1;
};

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void sobel(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct sobel_args *const args = arguments;
    const float *image = args->p0_data0;
    int64_t image_shape0 = args->p0_shape0;
    int64_t image_shape1 = args->p0_shape1;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float tile[10][10];
        int64_t height = image_shape0;
        int64_t width = image_shape1;
        int64_t left = blockIdx.x * 8 - 1;
        int64_t top = blockIdx.y * 8 - 1;
        for (int64_t ty = 0; ty < 8; ++ty) {
            for (int64_t tx = 0; tx < 8; ++tx) {
                for (int64_t row = ty; row < 10; row += 8) {
                    for (int64_t column = tx; column < 10; column += 8) {
                        int64_t inside_y = min_i64(max_i64(top + row, 0LL), height - 1);
                        int64_t inside_x = min_i64(max_i64(left + column, 0LL), width - 1);
                        tile[row][column] = image[inside_y * width + inside_x];
                    }
                }
            }
        }
        for (int64_t r = 0; r < min_i64(8LL, height - blockIdx.y * 8); ++r) {
            int64_t y = blockIdx.y * 8 + r;
            #pragma omp simd
            for (int64_t c = 0; c < min_i64(8LL, width - blockIdx.x * 8); ++c) {
                int64_t x = blockIdx.x * 8 + c;
                float across = tile[r][c + 2] + 2.0f * tile[r + 1][c + 2] + tile[r + 2][c + 2];
                across -= tile[r][c] + 2.0f * tile[r + 1][c] + tile[r + 2][c];
                float down = tile[r + 2][c] + 2.0f * tile[r + 2][c + 1] + tile[r + 2][c + 2];
                down -= tile[r][c] + 2.0f * tile[r][c + 1] + tile[r][c + 2];
                out[y * out_shape1 + x] = sqrtf(across * across + down * down);
            }
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

// The greater, as Python chooses: the first where neither is.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// The lesser, as Python chooses: the first where neither is.
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
    struct dim3 gridDim;
    gridDim.x = args->gridDim[0];
    gridDim.y = args->gridDim[1];
    gridDim.z = args->gridDim[2];
    struct dim3 blockDim;
    blockDim.x = args->blockDim[0];
    blockDim.y = args->blockDim[1];
    blockDim.z = args->blockDim[2];
    for (int64_t block = first_block; block < last_block; ++block) {
        struct dim3 blockIdx;
        blockIdx.x = block % gridDim.x;
        blockIdx.y = (block / gridDim.x) % gridDim.y;
        blockIdx.z = (block / gridDim.x) / gridDim.y;
        struct dim3 threadIdx;
        float tile[10][10];
        int64_t height = image_shape0;
        int64_t width = image_shape1;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t left = blockIdx.x * 8 - 1;
                    int64_t top = blockIdx.y * 8 - 1;
                    for (int64_t row = threadIdx.y; row < 10; row += 8) {
                        for (int64_t column = threadIdx.x; column < 10; column += 8) {
                            int64_t inside_y = min_i64(max_i64(top + row, 0LL), height - 1);
                            int64_t inside_x = min_i64(max_i64(left + column, 0LL), width - 1);
                            tile[row][column] = image[inside_y * image_shape1 + inside_x];
                        }
                    }
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t x = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t y = blockIdx.y * blockDim.y + threadIdx.y;
                    if (x >= width || y >= height) continue;
                    int64_t r = threadIdx.y;
                    int64_t c = threadIdx.x;
                    float across = tile[r][c + 2] + 2.0f * tile[r + 1][c + 2] + tile[r + 2][c + 2];
                    across -= tile[r][c] + 2.0f * tile[r + 1][c] + tile[r + 2][c];
                    float down = tile[r + 2][c] + 2.0f * tile[r + 2][c + 1] + tile[r + 2][c + 2];
                    down -= tile[r][c] + 2.0f * tile[r][c + 1] + tile[r][c + 2];
                    out[y * out_shape1 + x] = sqrtf(across * across + down * down);
                }
            }
        }
    }
}

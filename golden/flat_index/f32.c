#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

// The greater, as Python chooses: the first where neither is.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// The lesser, as Python chooses: the first where neither is.
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
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t x = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t y = blockIdx.y * blockDim.y + threadIdx.y;
                    int64_t here = y * width + x;
                    if (x < width && y < height) {
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
    }
}

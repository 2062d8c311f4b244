#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct median_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint8_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    uint8_t *p1_data0;
    int64_t p1_shape1;
};

void median(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct median_args *const args = arguments;
    const uint8_t *image = args->p0_data0;
    int64_t image_shape0 = args->p0_shape0;
    int64_t image_shape1 = args->p0_shape1;
    uint8_t *out = args->p1_data0;
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
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    float window[9];
                    int64_t x = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t y = blockIdx.y * blockDim.y + threadIdx.y;
                    if (x < 1 || y < 1 || x >= image_shape1 - 1 || y >= image_shape0 - 1) {
                        continue;
                    }
                    int64_t filled = 0;
                    for (int64_t dy = -1; dy < 2; ++dy) {
                        for (int64_t dx = -1; dx < 2; ++dx) {
                            uint8_t pixel = image[(y + dy) * image_shape1 + x + dx];
                            int64_t place = filled;
                            while (place > 0 && window[place - 1] > (float)pixel) {
                                window[place] = window[place - 1];
                                place -= 1;
                            }
                            window[place] = pixel;
                            filled += 1;
                        }
                    }
                    out[y * out_shape1 + x] = (uint8_t)window[4];
                }
            }
        }
    }
}

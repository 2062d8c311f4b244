#include <stdint.h>

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
        for (int64_t y = first_y; y < last_y; ++y) {
            for (int64_t x = first_x; x < last_x; ++x) {
                float window[9];
                if (x < 1 || y < 1 || x >= image_shape1 - 1 || y >= image_shape0 - 1) {
                    continue;
                }
                int64_t filled = 0;
                for (int64_t dy = -1; dy < 2; ++dy) {
                    for (int64_t dx = -1; dx < 2; ++dx) {
                        uint8_t pixel = image[(y + dy) * image_shape1 + x + dx];
                        int64_t place = filled;
                        while (place > 0 && window[place - 1] > pixel) {
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

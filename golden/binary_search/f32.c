#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct binary_search_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const float *p1_data0;
    int64_t p1_shape0;
    int64_t *p2_data0;
};

void binary_search(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct binary_search_args *const args = arguments;
    const float *ordered = args->p0_data0;
    int64_t ordered_len = args->p0_shape0;
    const float *needles = args->p1_data0;
    int64_t needles_len = args->p1_shape0;
    int64_t *places = args->p2_data0;
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
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i >= needles_len) continue;
                    int64_t low = 0;
                    int64_t high = ordered_len;
                    while (low < high) {
                        int64_t middle = (low + high) / 2;
                        if (ordered[middle] < needles[i]) {
                            low = middle + 1;
                        } else {
                            high = middle;
                        }
                    }
                    places[i] = low;
                }
            }
        }
    }
}

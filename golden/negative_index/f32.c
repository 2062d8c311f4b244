#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct negative_index_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const int32_t *p1_data0;
    float *p2_data0;
    int64_t p2_shape0;
};

void negative_index(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct negative_index_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    const int32_t *shift = args->p1_data0;
    float *out = args->p2_data0;
    int64_t out_len = args->p2_shape0;
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
                    if (i < out_len) {
                        float last = data[data_len - 1];
                        float mirrored = data[data_len + (-1 - i)];
                        int64_t at = i - 1;
                        float before = data[at < 0 ? at + data_len : at];
                        int64_t at_1 = shift[i];
                        float moved = data[at_1 < 0 ? at_1 + data_len : at_1];
                        float inner = i > 0 ? data[i - 1] : data[0];
                        out[out_len + (i - out_len)] = 16.0f * last + 8.0f * mirrored + 4.0f * before + 2.0f * moved + inner;
                    }
                }
            }
        }
    }
}

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct value_logic_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    const int32_t *p1_data0;
    int64_t p1_shape0;
    int64_t p1_stride0;
    float *p2_data0;
    int64_t p2_stride0;
};

void value_logic(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct value_logic_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int64_t data_stride0 = args->p0_stride0;
    const int32_t *where = args->p1_data0;
    int64_t where_len = args->p1_shape0;
    int64_t where_stride0 = args->p1_stride0;
    float *out = args->p2_data0;
    int64_t out_stride0 = args->p2_stride0;
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
                    if (i >= where_len) continue;
                    int32_t place = where[i * where_stride0];
                    bool known = 0 <= place && (int64_t)place < data_len && data[place * data_stride0] != 0.0f;
                    float value = known ? data[place * data_stride0] : -1.0f;
                    float value_1 = known ? data[place * data_stride0] : (float)known;
                    float either = value_1 != 0.0f ? value_1 : 0.5f;
                    int64_t sign = value > 0.0f ? 1 : value < 0.0f ? -1 : 0;
                    out[i * out_stride0] = value + (either != 0.0f ? either : 7.0f) + (float)sign + (float)!known;
                }
            }
        }
    }
}

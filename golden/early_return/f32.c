#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct early_return_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
};

void early_return(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct early_return_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    float *out = args->p1_data0;
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
        float neighbours[32];
        float left[32];
        float right[32];
        int32_t state_[32];
        bool live = true;
        live = false;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    state_[thread] = 0;
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i >= data_len) {
                        state_[thread] = 1;
                        continue;
                    }
                    neighbours[tid] = data[i];
                    live = true;
                }
            }
        }
        if (!live) continue;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    if (state_[thread] != 0) continue;
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    left[thread] = tid > 0 ? neighbours[tid - 1] : neighbours[tid];
                    right[thread] = (tid + 1 < 32 && i + 1 < data_len) ? neighbours[tid + 1] : neighbours[tid];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    if (state_[thread] != 0) continue;
                    int64_t tid = threadIdx.x;
                    neighbours[tid] = (left[thread] + right[thread]) * 0.5f;
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    if (state_[thread] != 0) continue;
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    out[i] = neighbours[tid] + neighbours[0];
                }
            }
        }
    }
}

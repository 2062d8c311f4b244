#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct monte_carlo_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    uint32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p2_value0;
};

static inline uint32_t stepped(uint32_t state_) {
    return state_ * 1664525 + 1013904223;
}

void monte_carlo(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct monte_carlo_args *const args = arguments;
    uint32_t *states = args->p0_data0;
    int64_t states_len = args->p0_shape0;
    int32_t *hits = args->p1_data0;
    int64_t draws = args->p2_value0;
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
                    if (i >= states_len) continue;
                    uint32_t state_ = states[i];
                    int64_t inside = 0;
                    for (int64_t _ = 0; _ < draws; ++_) {
                        state_ = stepped(state_);
                        uint32_t x = state_ >> 17;
                        state_ = stepped(state_);
                        uint32_t y = state_ >> 17;
                        if (x * x + y * y < 1073741824) {
                            inside += 1;
                        }
                    }
                    states[i] = state_;
                    hits[i] = inside;
                }
            }
        }
    }
}

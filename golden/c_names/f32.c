#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct c_names_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    float *p1_data0;
    float p2_value0;
    float p3_value0;
    int64_t p4_value0;
};

static inline float switch_(float auto_, float register_) {
    return auto_ * register_;
}

void c_names(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct c_names_args *const args = arguments;
    const float *index_ = args->p0_data0;
    float *double_ = args->p1_data0;
    float time_ = args->p2_value0;
    float norm_ = args->p3_value0;
    int64_t template_ = args->p4_value0;
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
                    int64_t threadIdx_ = threadIdx.x;
                    int64_t this_ = blockIdx.x * blockDim.x + threadIdx.x;
                    if (this_ < template_) {
                        float volatile_ = switch_(index_[this_], time_);
                        float signed_ = volatile_ + norm_;
                        int64_t struct_ = signed_ > 0.0f ? 1 : 0;
                        double_[this_] = signed_ * (float)struct_ + (float)threadIdx_;
                    }
                }
            }
        }
    }
}

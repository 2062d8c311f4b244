#include <stdint.h>

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

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

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
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        #pragma omp simd
        for (int64_t threadIdx_ = 0; threadIdx_ < min_i64(32LL, template_ - blockIdx.x * 32); ++threadIdx_) {
            int64_t this_ = blockIdx.x * 32 + threadIdx_;
            float volatile_ = switch_(index_[this_], time_);
            float signed_ = volatile_ + norm_;
            int64_t struct_ = signed_ > 0.0f ? 1 : 0;
            double_[this_] = signed_ * struct_ + threadIdx_;
        }
    }
}

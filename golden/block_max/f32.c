#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct block_max_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
    int32_t *p2_data0;
};

// The lesser, as Python chooses: the first where neither is.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// The greater, as Python chooses: the first where neither is.
static inline float max_f32(float a, float b) {
    return b > a ? b : a;
}

void block_max(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct block_max_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    float *best = args->p1_data0;
    int32_t *place = args->p2_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float value[64];
        int32_t where[64];
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            int64_t i = blockIdx.x * 64 + tid;
            value[tid] = data[min_i64(i, data_len - 1)];
            where[tid] = min_i64(i, data_len - 1);
        }
        int64_t step = 32;
        while (step != 0) {
            #pragma omp simd
            for (int64_t tid = 0; tid < min_i64(64LL, step); ++tid) {
                if (value[tid] < value[tid + step]) {
                    value[tid] = max_f32(value[tid], value[tid + step]);
                    where[tid] = where[tid + step];
                }
            }
            step >>= 1;
        }
        {
            best[blockIdx.x] = value[0];
            place[blockIdx.x] = where[0];
        }
    }
}

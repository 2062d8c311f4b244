#include <stdint.h>

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

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// max(a, b) as in Python: a unless b > a.
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
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            if (value[tid] < value[tid + 32]) {
                value[tid] = max_f32(value[tid], value[tid + 32]);
                where[tid] = where[tid + 32];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 16; ++tid) {
            if (value[tid] < value[tid + 16]) {
                value[tid] = max_f32(value[tid], value[tid + 16]);
                where[tid] = where[tid + 16];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 8; ++tid) {
            if (value[tid] < value[tid + 8]) {
                value[tid] = max_f32(value[tid], value[tid + 8]);
                where[tid] = where[tid + 8];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 4; ++tid) {
            if (value[tid] < value[tid + 4]) {
                value[tid] = max_f32(value[tid], value[tid + 4]);
                where[tid] = where[tid + 4];
            }
        }
        for (int64_t tid = 0; tid < 2; ++tid) {
            if (value[tid] < value[tid + 2]) {
                value[tid] = max_f32(value[tid], value[tid + 2]);
                where[tid] = where[tid + 2];
            }
        }
        {
            const int64_t tid = 0;
            if (value[tid] < value[tid + 1]) {
                value[tid] = max_f32(value[tid], value[tid + 1]);
                where[tid] = where[tid + 1];
            }
        }
        {
            best[blockIdx.x] = value[0];
            place[blockIdx.x] = where[0];
        }
    }
}

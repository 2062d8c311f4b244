#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct reduce_sum_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
};

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
static inline void prefetch_f32(const float *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
}

void reduce_sum(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct reduce_sum_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    float *out = args->p1_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float shared[256];
        if (last_block - block > 4) {
            prefetch_f32(&data[blockIdx.x * 256], 1024LL, 256LL);
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 256; ++tid) {
            int64_t i = blockIdx.x * 256 + tid;
            if (i < data_len) {
                shared[tid] = data[i];
            } else {
                shared[tid] = 0.0f;
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 128; ++tid) {
            shared[tid] += shared[tid + 128];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            shared[tid] += shared[tid + 64];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            shared[tid] += shared[tid + 32];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 16; ++tid) {
            shared[tid] += shared[tid + 16];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 8; ++tid) {
            shared[tid] += shared[tid + 8];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 4; ++tid) {
            shared[tid] += shared[tid + 4];
        }
        for (int64_t tid = 0; tid < 2; ++tid) {
            shared[tid] += shared[tid + 2];
        }
        {
            const int64_t tid = 0;
            shared[tid] += shared[tid + 1];
        }
        {
            out[blockIdx.x] = shared[0];
        }
    }
}

#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct bitonic_sort_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    float *p0_data0;
};

// Prefetches elements to be written: count of them, ahead of from; may be out of bounds.
static inline void prefetch_to_write_f32(const float *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i), 1);
    }
}

void bitonic_sort(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct bitonic_sort_args *const args = arguments;
    float *data = args->p0_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float mine[32];
        if (last_block - block > 32) {
            prefetch_to_write_f32(&data[blockIdx.x * 32], 1024LL, 32LL);
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            int64_t i = blockIdx.x * 32 + tid;
            mine[tid] = data[i];
        }
        int64_t size = 2;
        while (size <= 32) {
            int64_t stride = size / 2;
            while (stride > 0) {
                #pragma omp simd
                for (int64_t tid = 0; tid < 32; ++tid) {
                    int64_t partner = tid ^ stride;
                    if (partner > tid) {
                        float a = mine[tid];
                        float b = mine[partner];
                        bool ascending = (tid & size) == 0;
                        if ((a > b) == ascending) {
                            mine[tid] = b;
                            mine[partner] = a;
                        }
                    }
                }
                stride /= 2;
            }
            size *= 2;
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            int64_t i = blockIdx.x * 32 + tid;
            data[i] = mine[tid];
        }
    }
}

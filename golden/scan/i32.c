#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct scan_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape0;
};

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
static inline void prefetch_i32(const int32_t *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
}

// Prefetches elements to be written: count of them, ahead of from; may be out of bounds.
static inline void prefetch_to_write_i32(const int32_t *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i), 1);
    }
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void scan(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct scan_args *const args = arguments;
    const int32_t *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        int32_t sums[64];
        int32_t addend[64];
        if (last_block - block > 16) {
            prefetch_i32(&data[blockIdx.x * 64], 1024LL, 64LL);
            prefetch_to_write_i32(&out[blockIdx.x * 64], 1024LL, 64LL);
        }
        if (64 <= data_len - blockIdx.x * 64) {
            #pragma omp simd
            for (int64_t tid = 0; tid < 64; ++tid) {
                int64_t i = blockIdx.x * 64 + tid;
                sums[tid] = data[i];
            }
        } else {
            #pragma omp simd
            for (int64_t tid = 0; tid < 64; ++tid) {
                int64_t i = blockIdx.x * 64 + tid;
                sums[tid] = i < data_len ? data[i] : 0;
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            addend[tid] = 0;
            if (tid >= 1) {
                addend[tid] = sums[tid - 1];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            sums[tid] += (uint32_t)addend[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            addend[tid] = 0;
            if (tid >= 2) {
                addend[tid] = sums[tid - 2];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            sums[tid] += (uint32_t)addend[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            addend[tid] = 0;
            if (tid >= 4) {
                addend[tid] = sums[tid - 4];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            sums[tid] += (uint32_t)addend[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            addend[tid] = 0;
            if (tid >= 8) {
                addend[tid] = sums[tid - 8];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            sums[tid] += (uint32_t)addend[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            addend[tid] = 0;
            if (tid >= 16) {
                addend[tid] = sums[tid - 16];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            sums[tid] += (uint32_t)addend[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            addend[tid] = 0;
            if (tid >= 32) {
                addend[tid] = sums[tid - 32];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            sums[tid] += (uint32_t)addend[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < min_i64(64LL, out_len - blockIdx.x * 64); ++tid) {
            int64_t i = blockIdx.x * 64 + tid;
            out[i] = sums[tid];
        }
    }
}

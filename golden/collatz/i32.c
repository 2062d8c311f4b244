#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct collatz_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p2_value0;
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

void collatz(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct collatz_args *const args = arguments;
    const int32_t *numbers = args->p0_data0;
    int64_t numbers_len = args->p0_shape0;
    int32_t *steps = args->p1_data0;
    int64_t limit = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        int32_t n_context[32];
        int32_t taken_context[32];
        int32_t state_context[32];
        if (last_block - block > 32) {
            prefetch_i32(&numbers[blockIdx.x * 32], 1024LL, 32LL);
            prefetch_to_write_i32(&steps[blockIdx.x * 32], 1024LL, 32LL);
        }
        int32_t any_active = 0;
        #pragma omp simd
        for (int64_t tx = 0; tx < 32; ++tx) {
            state_context[tx] = 0;
            int64_t i = blockIdx.x * 32 + tx;
            if (i >= numbers_len) {
                state_context[tx] = 1;
                continue;
            }
            n_context[tx] = numbers[i];
            taken_context[tx] = 0;
        }
        while (true) {
            any_active = 0;
            #pragma omp simd reduction(|:any_active)
            for (int64_t t = 0; t < 32; ++t) {
                int32_t n = n_context[t];
                int32_t taken = taken_context[t];
                int32_t state_ = state_context[t];
                int32_t began = state_ == 0;
                int32_t running = began;
                for (int64_t round_ = 0; round_ < 4; ++round_) {
                    running &= (n != 1) & (taken < (int32_t)limit);
                    n = (n & 1) == 0 ? n >> 1 : (int32_t)(3 * (uint32_t)n + 1);
                    taken += running;
                }
                state_ |= 2 & -(began ^ running);
                any_active |= running;
                n_context[t] = n;
                taken_context[t] = taken;
                state_context[t] = state_;
            }
            if (any_active == 0) break;
        }
        #pragma omp simd
        for (int64_t tx = 0; tx < 32; ++tx) {
            if (state_context[tx] == 2) {
                state_context[tx] = 0;
            }
            if (state_context[tx] != 0) continue;
            int64_t i = blockIdx.x * 32 + tx;
            steps[i] = taken_context[tx];
        }
    }
}

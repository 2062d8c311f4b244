#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct popcount_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape1;
};

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
static inline void prefetch_u32(const uint32_t *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
}

// a >> b; 0 where b is the width or more.
static inline uint32_t shr_u32(uint32_t a, uint32_t b) {
    return (uint32_t)(b < 32 ? a >> b : 0);
}

void popcount(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct popcount_args *const args = arguments;
    const uint32_t *words = args->p0_data0;
    int64_t words_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        int32_t cleared[32];
        int32_t missing_context[32];
        uint32_t rest_context[32];
        int64_t shifted[32];
        int32_t state_context[32];
        if (last_block - block > 32) {
            prefetch_u32(&words[blockIdx.x * 32], 1024LL, 32LL);
        }
        int32_t any_active = 0;
        #pragma omp simd
        for (int64_t tx = 0; tx < 32; ++tx) {
            state_context[tx] = 0;
            int64_t i = blockIdx.x * 32 + tx;
            if (i >= words_len) {
                state_context[tx] = 1;
                continue;
            }
            uint32_t rest = words[i];
            cleared[tx] = 0;
            while (rest != 0) {
                rest &= rest - 1;
                cleared[tx] = cleared[tx] + 1;
            }
            shifted[tx] = 0;
            for (int64_t bit = 0; bit < 64; ++bit) {
                shifted[tx] = shifted[tx] + (shr_u32(words[i], (uint32_t)bit) & 1);
            }
            missing_context[tx] = 0;
            rest_context[tx] = ~words[i];
        }
        while (true) {
            any_active = 0;
            #pragma omp simd reduction(|:any_active)
            for (int64_t t = 0; t < 32; ++t) {
                int32_t missing = missing_context[t];
                uint32_t rest = rest_context[t];
                int32_t state_ = state_context[t];
                int32_t began = state_ == 0;
                int32_t running = began;
                for (int64_t round_ = 0; round_ < 4; ++round_) {
                    running &= (int32_t)(rest != 0);
                    missing += (int32_t)(rest & 1) & -running;
                    rest >>= 1;
                }
                state_ |= 2 & -(began ^ running);
                any_active |= running;
                missing_context[t] = missing;
                rest_context[t] = rest;
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
            out[i * out_shape1] = cleared[tx];
            out[i * out_shape1 + 1] = shifted[tx];
            out[i * out_shape1 + 2] = missing_context[tx];
        }
    }
}

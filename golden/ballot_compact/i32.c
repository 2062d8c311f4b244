#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct ballot_compact_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape0;
    int32_t *p2_data0;
};

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
static inline void prefetch_i32(const int32_t *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
}

void ballot_compact(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct ballot_compact_args *const args = arguments;
    const int32_t *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
    int32_t *count = args->p2_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        uint32_t holds[2];
        uint32_t holds_each[64];
        if (last_block - block > 16) {
            prefetch_i32(&a[blockIdx.x * 64], 1024LL, 64LL);
        }
        for (int64_t each = 0; each < 64; ++each) {
            holds_each[each] = 0;
        }
        #pragma omp simd
        for (int64_t tx = 0; tx < 64; ++tx) {
            int64_t i = blockIdx.x * 64 + tx;
            bool predicate = i < a_len && a[i] > 0;
            holds_each[tx] = predicate ? 1U << (uint32_t)(tx & 31) : 0;
        }
        for (int64_t sum = 0; sum < 2; ++sum) {
            holds[sum] = 0;
            for (int64_t each = sum * 32; each < sum * 32 + 32; ++each) {
                holds[sum] += holds_each[each];
            }
        }
        #pragma omp simd
        for (int64_t tx = 0; tx < 64; ++tx) {
            int64_t kept = (int64_t)holds[tx >> 5] & 4294967295LL;
            int64_t i = blockIdx.x * 64 + tx;
            int64_t first = i - (tx & 31);
            if (((kept >> (tx & 31)) & 1) != 0) {
                int64_t at = first + (int64_t)__builtin_popcountll(kept & ((1LL << (tx & 31)) - 1));
                out[at < 0 ? at + out_len : at] = a[i];
            }
            if ((tx & 31) == 0) {
                count[first / 32] = __builtin_popcountll(kept);
            }
        }
    }
}

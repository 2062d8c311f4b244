#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct histogram_shared_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint8_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
static inline void prefetch_u8(const uint8_t *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
}

// *place += value, not atomic; returns the old value.
static inline int32_t plain_add_i32(int32_t *place, int32_t value) {
    const int32_t old = *place;
    *place = (int32_t)((uint32_t)old + (uint32_t)value);
    return old;
}

void histogram_shared(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct histogram_shared_args *const args = arguments;
    const uint8_t *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int32_t *counts = args->p1_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        int32_t mine[32];
        for (int64_t b_first = 0; b_first < 32; b_first += 24) {
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(24LL, 32 - b_first); ++tx) {
                int64_t b = b_first + tx;
                mine[b] = 0;
            }
        }
        for (int64_t i_first = blockIdx.x * 24; i_first < data_len; i_first += gridDim.x * 24) {
            if (i_first + gridDim.x * 24 < data_len) {
                prefetch_u8(&data[i_first], gridDim.x * 24, 24LL);
            }
            #pragma GCC unroll 4
            for (int64_t tx = 0; tx < min_i64(24LL, data_len - i_first); ++tx) {
                int64_t i = i_first + tx;
                plain_add_i32(&mine[data[i] >> 3], 1);
            }
        }
        for (int64_t b_first = 0; b_first < 32; b_first += 24) {
            for (int64_t tx = 0; tx < min_i64(24LL, 32 - b_first); ++tx) {
                int64_t b = b_first + tx;
                if (mine[b] > 0) {
                    __atomic_fetch_add(&counts[b], mine[b], __ATOMIC_ACQUIRE);
                }
            }
        }
    }
}

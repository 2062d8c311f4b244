#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct histogram_global_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const uint8_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape0;
};

// a % b; 0 where b is 0.
static inline uint8_t mod_u8(uint8_t a, uint8_t b) {
    return b == 0 ? 0 : (uint8_t)(a % b);
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void histogram_global(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct histogram_global_args *const args = arguments;
    const uint8_t *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int32_t *counts = args->p1_data0;
    int64_t counts_len = args->p1_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        for (int64_t tx = 0; tx < min_i64(64LL, data_len - blockIdx.x * 64); ++tx) {
            int64_t i = blockIdx.x * 64 + tx;
            __atomic_fetch_add(&counts[mod_u8(data[i], (uint8_t)counts_len)], 1, __ATOMIC_ACQUIRE);
        }
    }
}

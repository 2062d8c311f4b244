#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct grid_stride_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    float *p1_data0;
    int64_t p1_stride0;
    float p2_value0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void grid_stride(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct grid_stride_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int64_t data_stride0 = args->p0_stride0;
    float *out = args->p1_data0;
    int64_t out_stride0 = args->p1_stride0;
    float offset = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        for (int64_t i_first = blockIdx.x * 32; i_first < data_len; i_first += gridDim.x * 32) {
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(32LL, data_len - i_first); ++tx) {
                int64_t i = i_first + tx;
                out[i * out_stride0] = data[i * data_stride0] * data[i * data_stride0] + offset;
            }
        }
    }
}

#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct transpose_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    int64_t p0_stride0;
    int64_t p0_stride1;
    float *p1_data0;
    int64_t p1_shape0;
    int64_t p1_shape1;
    int64_t p1_stride0;
    int64_t p1_stride1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void transpose(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct transpose_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_shape0 = args->p0_shape0;
    int64_t data_shape1 = args->p0_shape1;
    int64_t data_stride0 = args->p0_stride0;
    int64_t data_stride1 = args->p0_stride1;
    float *out = args->p1_data0;
    int64_t out_shape0 = args->p1_shape0;
    int64_t out_shape1 = args->p1_shape1;
    int64_t out_stride0 = args->p1_stride0;
    int64_t out_stride1 = args->p1_stride1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float tile[8][9];
        for (int64_t ty = 0; ty < min_i64(8LL, data_shape0 - blockIdx.y * 8); ++ty) {
            int64_t y = blockIdx.y * 8 + ty;
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(8LL, data_shape1 - blockIdx.x * 8); ++tx) {
                int64_t x = blockIdx.x * 8 + tx;
                tile[ty][tx] = data[y * data_stride0 + x * data_stride1];
            }
        }
        for (int64_t ty = 0; ty < min_i64(8LL, out_shape0 - blockIdx.x * 8); ++ty) {
            int64_t y = blockIdx.x * 8 + ty;
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(8LL, out_shape1 - blockIdx.y * 8); ++tx) {
                int64_t x = blockIdx.y * 8 + tx;
                out[y * out_stride0 + x * out_stride1] = tile[tx][ty];
            }
        }
    }
}

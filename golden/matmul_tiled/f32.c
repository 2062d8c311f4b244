#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct matmul_tiled_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape1;
    float *p2_data0;
    int64_t p2_shape0;
    int64_t p2_shape1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void matmul_tiled(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct matmul_tiled_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape0 = args->p0_shape0;
    int64_t a_shape1 = args->p0_shape1;
    const float *b = args->p1_data0;
    int64_t b_shape1 = args->p1_shape1;
    float *c = args->p2_data0;
    int64_t c_shape0 = args->p2_shape0;
    int64_t c_shape1 = args->p2_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float tile_a[16][16];
        float tile_b[16][16];
        float total[256];
        int64_t inner = a_shape1;
        #pragma omp simd
        for (int64_t t = 0; t < 256; ++t) {
            total[t] = 0.0f;
        }
        for (int64_t start = 0; start < inner; start += 16) {
            for (int64_t ty = 0; ty < 16; ++ty) {
                int64_t row = blockIdx.y * 16 + ty;
                #pragma omp simd
                for (int64_t tx = 0; tx < 16; ++tx) {
                    int64_t column = blockIdx.x * 16 + tx;
                    if (row < a_shape0 && start + tx < inner) {
                        tile_a[ty][tx] = a[row * inner + start + tx];
                    } else {
                        tile_a[ty][tx] = 0.0f;
                    }
                    if (start + ty < inner && column < b_shape1) {
                        tile_b[ty][tx] = b[(start + ty) * b_shape1 + column];
                    } else {
                        tile_b[ty][tx] = 0.0f;
                    }
                }
            }
            for (int64_t ty_by_4 = 0; ty_by_4 < 4; ++ty_by_4) {
                #pragma omp simd
                for (int64_t tx = 0; tx < 16; ++tx) {
                    int64_t t_1 = ty_by_4 * 4 * 16 + tx;
                    float total_1 = total[t_1];
                    int64_t t_2 = (ty_by_4 * 4 + 1) * 16 + tx;
                    float total_2 = total[t_2];
                    int64_t t_3 = (ty_by_4 * 4 + 2) * 16 + tx;
                    float total_3 = total[t_3];
                    int64_t t_4 = (ty_by_4 * 4 + 3) * 16 + tx;
                    float total_4 = total[t_4];
                    for (int64_t k = 0; k < 16; ++k) {
                        total_1 += tile_a[ty_by_4 * 4][k] * tile_b[k][tx];
                        total_2 += tile_a[ty_by_4 * 4 + 1][k] * tile_b[k][tx];
                        total_3 += tile_a[ty_by_4 * 4 + 2][k] * tile_b[k][tx];
                        total_4 += tile_a[ty_by_4 * 4 + 3][k] * tile_b[k][tx];
                    }
                    total[t_1] = total_1;
                    total[t_2] = total_2;
                    total[t_3] = total_3;
                    total[t_4] = total_4;
                }
            }
        }
        for (int64_t ty = 0; ty < min_i64(16LL, c_shape0 - blockIdx.y * 16); ++ty) {
            int64_t row = blockIdx.y * 16 + ty;
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(16LL, c_shape1 - blockIdx.x * 16); ++tx) {
                int64_t t = ty * 16 + tx;
                int64_t column = blockIdx.x * 16 + tx;
                c[row * c_shape1 + column] = total[t];
            }
        }
    }
}

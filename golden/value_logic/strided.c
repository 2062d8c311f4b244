#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct value_logic_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    const int32_t *p1_data0;
    int64_t p1_shape0;
    int64_t p1_stride0;
    float *p2_data0;
    int64_t p2_stride0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void value_logic(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct value_logic_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    int64_t data_stride0 = args->p0_stride0;
    const int32_t *where = args->p1_data0;
    int64_t where_len = args->p1_shape0;
    int64_t where_stride0 = args->p1_stride0;
    float *out = args->p2_data0;
    int64_t out_stride0 = args->p2_stride0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, where_len); ++i) {
            int32_t place = where[i * where_stride0];
            bool known = 0 <= place && place < data_len && data[place * data_stride0] != 0.0f;
            float value = known ? data[place * data_stride0] : -1.0f;
            float value_1 = known ? data[place * data_stride0] : (float)known;
            float either = value_1 != 0.0f ? value_1 : 0.5f;
            int64_t sign = value > 0.0f ? 1 : value < 0.0f ? -1 : 0;
            out[i * out_stride0] = value + (either != 0.0f ? either : 7.0f) + sign + (float)!known;
        }
    }
}

#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct negative_index_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const int32_t *p1_data0;
    float *p2_data0;
    int64_t p2_shape0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

void negative_index(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct negative_index_args *const args = arguments;
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    const int32_t *shift = args->p1_data0;
    float *out = args->p2_data0;
    int64_t out_len = args->p2_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        int64_t i_first = first_x;
        int64_t end = min_i64(last_x, out_len);
        while (i_first < end) {
            int64_t at_first = i_first - 1;
            int64_t offset = (at_first < 0 ? at_first + data_len : at_first) - i_first;
            int64_t length = end - i_first;
            length = min_i64(length, max_i64((at_first < 0 ? 0 : 9223372036854775807LL) - at_first, 1LL));
            int64_t i_end = i_first + length;
            #pragma omp simd
            for (int64_t i = i_first; i < i_end; ++i) {
                float last = data[data_len - 1];
                float mirrored = data[data_len + (-1 - i)];
                float before = data[i + offset];
                int64_t at = shift[i];
                float moved = data[at < 0 ? at + data_len : at];
                float inner = i > 0 ? data[i - 1] : data[0];
                out[out_len + (i - out_len)] = 16.0f * last + 8.0f * mirrored + 4.0f * before + 2.0f * moved + inner;
            }
            i_first = i_end;
        }
    }
}

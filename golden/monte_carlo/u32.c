#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct monte_carlo_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    uint32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p2_value0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void monte_carlo(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct monte_carlo_args *const args = arguments;
    uint32_t *states = args->p0_data0;
    int64_t states_len = args->p0_shape0;
    int32_t *hits = args->p1_data0;
    int64_t draws = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        for (int64_t i_first = first_x; i_first < min_i64(last_x, states_len); i_first += 16) {
            if (min_i64(last_x, states_len) - i_first >= 16) {
                uint32_t state_1[16];
                int64_t inside_1[16];
                #pragma omp simd
                for (int64_t i_in = 0; i_in < 16; ++i_in) {
                    int64_t i = i_first + i_in;
                    state_1[i_in] = states[i];
                    inside_1[i_in] = 0;
                }
                for (int64_t _ = 0; _ < draws; ++_) {
                    #pragma omp simd
                    for (int64_t i_in = 0; i_in < 16; ++i_in) {
                        int64_t inside = inside_1[i_in];
                        uint32_t state_ = state_1[i_in] * 1664525 + 1013904223;
                        uint32_t x = state_ >> 17;
                        state_1[i_in] = state_ * 1664525 + 1013904223;
                        uint32_t y = state_1[i_in] >> 17;
                        if (x * x + y * y < 1073741824) {
                            inside += 1;
                        }
                        inside_1[i_in] = inside;
                    }
                }
                #pragma omp simd
                for (int64_t i_in = 0; i_in < 16; ++i_in) {
                    int64_t i = i_first + i_in;
                    states[i] = state_1[i_in];
                    hits[i] = inside_1[i_in];
                }
            } else {
                int64_t i_left = min_i64(16LL, min_i64(last_x, states_len) - i_first);
                uint32_t state_1[16];
                int64_t inside_1[16];
                #pragma omp simd
                for (int64_t i_in = 0; i_in < i_left; ++i_in) {
                    int64_t i = i_first + i_in;
                    state_1[i_in] = states[i];
                    inside_1[i_in] = 0;
                }
                for (int64_t _ = 0; _ < draws; ++_) {
                    #pragma omp simd
                    for (int64_t i_in = 0; i_in < i_left; ++i_in) {
                        int64_t inside = inside_1[i_in];
                        uint32_t state_ = state_1[i_in] * 1664525 + 1013904223;
                        uint32_t x = state_ >> 17;
                        state_1[i_in] = state_ * 1664525 + 1013904223;
                        uint32_t y = state_1[i_in] >> 17;
                        if (x * x + y * y < 1073741824) {
                            inside += 1;
                        }
                        inside_1[i_in] = inside;
                    }
                }
                #pragma omp simd
                for (int64_t i_in = 0; i_in < i_left; ++i_in) {
                    int64_t i = i_first + i_in;
                    states[i] = state_1[i_in];
                    hits[i] = inside_1[i_in];
                }
            }
        }
    }
}

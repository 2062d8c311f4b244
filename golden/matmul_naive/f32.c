#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct matmul_naive_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape1;
    float *p2_data0;
    int64_t p2_shape0;
    int64_t p2_shape1;
};

// Tells the compiler that n >= 1, so that it does not test whether a loop up to n is empty.
static inline void at_least_1_i64(int64_t n) {
    if (n < 1) __builtin_unreachable();
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void matmul_naive(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct matmul_naive_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape1 = args->p0_shape1;
    const float *b = args->p1_data0;
    int64_t b_shape1 = args->p1_shape1;
    float *c = args->p2_data0;
    int64_t c_shape0 = args->p2_shape0;
    int64_t c_shape1 = args->p2_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        const int64_t first_y = ((block / gridDim.x) % gridDim.y) * blockDim.y;
        const int64_t last_y = first_y + blockDim.y;
        at_least_1_i64(a_shape1);
        for (int64_t row_first = first_y; row_first < min_i64(last_y, c_shape0); row_first += 4) {
            for (int64_t column_first = first_x; column_first < min_i64(last_x, c_shape1); column_first += 64) {
                if (min_i64(last_y, c_shape0) - row_first >= 4 && min_i64(last_x, c_shape1) - column_first >= 64) {
                    float total[4][64];
                    for (int64_t row_in = 0; row_in < 4; ++row_in) {
                        #pragma omp simd
                        for (int64_t column_in = 0; column_in < 64; ++column_in) {
                            total[row_in][column_in] = 0.0f;
                        }
                    }
                    for (int64_t k = 0; k < a_shape1; ++k) {
                        for (int64_t row_in = 0; row_in < 4; ++row_in) {
                            int64_t row = row_first + row_in;
                            #pragma omp simd
                            for (int64_t column_in = 0; column_in < 64; ++column_in) {
                                int64_t column = column_first + column_in;
                                total[row_in][column_in] += a[row * a_shape1 + k] * b[k * b_shape1 + column];
                            }
                        }
                    }
                    for (int64_t row_in = 0; row_in < 4; ++row_in) {
                        int64_t row = row_first + row_in;
                        #pragma omp simd
                        for (int64_t column_in = 0; column_in < 64; ++column_in) {
                            int64_t column = column_first + column_in;
                            c[row * c_shape1 + column] = total[row_in][column_in];
                        }
                    }
                } else {
                    int64_t row_left = min_i64(4LL, min_i64(last_y, c_shape0) - row_first);
                    int64_t column_left = min_i64(64LL, min_i64(last_x, c_shape1) - column_first);
                    float total[4][64];
                    for (int64_t row_in = 0; row_in < row_left; ++row_in) {
                        #pragma omp simd
                        for (int64_t column_in = 0; column_in < column_left; ++column_in) {
                            total[row_in][column_in] = 0.0f;
                        }
                    }
                    for (int64_t k = 0; k < a_shape1; ++k) {
                        for (int64_t row_in = 0; row_in < row_left; ++row_in) {
                            int64_t row = row_first + row_in;
                            #pragma omp simd
                            for (int64_t column_in = 0; column_in < column_left; ++column_in) {
                                int64_t column = column_first + column_in;
                                total[row_in][column_in] += a[row * a_shape1 + k] * b[k * b_shape1 + column];
                            }
                        }
                    }
                    for (int64_t row_in = 0; row_in < row_left; ++row_in) {
                        int64_t row = row_first + row_in;
                        #pragma omp simd
                        for (int64_t column_in = 0; column_in < column_left; ++column_in) {
                            int64_t column = column_first + column_in;
                            c[row * c_shape1 + column] = total[row_in][column_in];
                        }
                    }
                }
            }
        }
    }
}

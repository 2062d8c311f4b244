#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct row_softmax_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    float *p0_data0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape1;
};

// a % b: has the sign of b; 0 where b is 0.
static inline int64_t mod_i64(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t remainder = (int64_t)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (int64_t)(remainder + b) : remainder;
}

// a // b: rounds down; 0 where b is 0.
static inline int64_t floordiv_i64(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return (int64_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// max(a, b) as in Python: a unless b > a.
static inline float max_f32(float a, float b) {
    return b > a ? b : a;
}

// e to the power x, by arithmetic alone, so that it runs in vectors.
static inline __attribute__((always_inline)) float exp_f32(float x) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    const float up = fmaf(x, 1.442695f, 0x1.8p23f), n = up - 0x1.8p23f; // the nearest integer
    const float r = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, x)); // x - n * log(2)
    float p = fmaf(0x1.694p-10f, r, 0x1.125edcp-7f);
    p = fmaf(p, r, 0x1.555b5ap-5f);
    p = fmaf(p, r, 0x1.55545p-3f);
    p = fmaf(p, r, 0x1.fffff6p-2f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    // times 2**n, whose n the last bits of "up" are, in two steps: either factor is a normal number
    uint32_t bits;
    __builtin_memcpy(&bits, &up, 4);
    const uint32_t half = bits << 22 & 0xff800000, rest = (bits << 23) - half;
    const uint32_t first = half + 0x3f800000, second = rest + 0x3f800000;
    float s, t;
    __builtin_memcpy(&s, &first, 4);
    __builtin_memcpy(&t, &second, 4);
    p = x > 150.0f ? INFINITY : p * s * t;
    return x < -150.0f ? 0.0f : p;
#else
    return expf(x);
#endif
}

static inline int64_t block_threads(void) {
    return 96;
}

static inline void store_items(float *arrays, int64_t index_, float value) {
    arrays[index_] = value;
}

static inline float load_items(const float *arrays, int64_t index_) {
    return arrays[index_];
}

void row_softmax(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct row_softmax_args *const args = arguments;
    float *out = args->p0_data0;
    int64_t out_shape1 = args->p0_shape1;
    const float *x = args->p1_data0;
    int64_t x_shape1 = args->p1_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float sent[96];
        float sent_1[96];
        float sent_2[96];
        float sent_3[96];
        float of_warps[32];
        float of_warps_1[32];
        int64_t count[96];
        int64_t count_1[96];
        float exponential[96];
        int64_t lanes[96];
        int64_t lanes_1[96];
        int64_t lanes_2[96];
        int64_t lanes_3[96];
        float result_2[96];
        float result_3[96];
        float result_4[96];
        float result_5[96];
        float value[96];
        float value_1[96];
        float value_2[96];
        float value_3[96];
        float value_4[96];
        int64_t row = blockIdx.x;
        int64_t column_first = 0;
        int64_t end = 96;
        while (column_first < end) {
            int64_t row_1 = 0;
            int64_t result_first = column_first + 96 * row_1;
            int64_t residue = mod_i64(result_first, 32LL);
            int64_t quotient = floordiv_i64(result_first, 32LL);
            int64_t length = end - column_first;
            length = min_i64(length, max_i64((result_first < 0 ? 0 : 9223372036854775807LL) - result_first, 1LL));
            length = min_i64(length, max_i64(32 - residue, 1LL));
            int64_t column_end = column_first + length;
            #pragma omp simd
            for (int64_t column = column_first; column < column_end; ++column) {
                value[column] = x[row * x_shape1 + column];
                float value_5 = value[column];
                float combined = value_5;
                float value_6 = combined;
                count[column] = block_threads();
                int64_t lanes_4 = min_i64(32LL, count[column] - quotient * 32);
                float own = value_6;
                value_1[column] = own;
                lanes[column] = lanes_4;
            }
            column_first = column_end;
        }
        for (int64_t step = 0; step < 5; ++step) {
            int64_t distance = 1LL << step;
            #pragma omp simd
            for (int64_t t = 0; t < 96; ++t) {
                sent[t] = value_1[t];
            }
            #pragma omp simd
            for (int64_t t = 0; t < 96; ++t) {
                float other = ((int32_t)t & 31) + (int32_t)(distance & 31) < 32 ? sent[t + (distance & 31)] : sent[t];
                if ((t & 31) + distance < lanes[t]) {
                    value_1[t] = max_f32(value_1[t], other);
                }
            }
        }
        int64_t row_1 = 0;
        for (int64_t tx = 0; tx < 96; ++tx) {
            float result_6 = value_1[tx];
            int64_t result = tx + 96 * row_1;
            result_4[tx] = result_6;
            if ((tx & 31) == 0) {
                store_items(of_warps, result / 32, result_4[tx]);
            }
        }
        int64_t row_2 = 0;
        #pragma omp simd
        for (int64_t tx = 0; tx < 32; ++tx) {
            int64_t warps = (count[tx] + 31) / 32;
            int64_t result = tx + 96 * row_2;
            if (result < warps) {
                result_4[tx] = load_items(of_warps, result);
            }
            value_3[tx] = result_4[tx];
            lanes_2[tx] = warps;
        }
        for (int64_t step = 0; step < 5; ++step) {
            int64_t distance = 1LL << step;
            #pragma omp simd
            for (int64_t t = 0; t < 32; ++t) {
                sent_1[t] = value_3[t];
            }
            #pragma omp simd
            for (int64_t t = 0; t < 32; ++t) {
                float other = ((int32_t)t & 31) + (int32_t)(distance & 31) < 32 ? sent_1[t + (distance & 31)] : sent_1[t];
                if ((t & 31) + distance < lanes_2[t]) {
                    value_3[t] = max_f32(value_3[t], other);
                }
            }
        }
        {
            const int64_t t = 0;
            float result_6 = value_3[t];
            result_4[t] = result_6;
        }
        {
            const int64_t tx = 0;
            float result_6 = result_4[tx];
            float result_7 = result_6;
            store_items(of_warps, 0, result_7);
        }
        #pragma omp simd
        for (int64_t t = 0; t < 96; ++t) {
            result_2[t] = load_items(of_warps, 0);
        }
        int64_t tx_first = 0;
        int64_t end_1 = 96;
        while (tx_first < end_1) {
            int64_t row_3 = 0;
            int64_t result_first = tx_first + 96 * row_3;
            int64_t residue = mod_i64(result_first, 32LL);
            int64_t quotient = floordiv_i64(result_first, 32LL);
            int64_t length = end_1 - tx_first;
            length = min_i64(length, max_i64((result_first < 0 ? 0 : 9223372036854775807LL) - result_first, 1LL));
            length = min_i64(length, max_i64(32 - residue, 1LL));
            int64_t tx_end = tx_first + length;
            #pragma omp simd
            for (int64_t tx = tx_first; tx < tx_end; ++tx) {
                float result_6 = result_2[tx];
                float result_7 = result_6;
                exponential[tx] = exp_f32(value[tx] - result_7);
                float value_5 = exponential[tx];
                float combined = value_5;
                float value_6 = combined;
                count_1[tx] = block_threads();
                int64_t lanes_4 = min_i64(32LL, count_1[tx] - quotient * 32);
                float own = value_6;
                value_2[tx] = own;
                lanes_1[tx] = lanes_4;
            }
            tx_first = tx_end;
        }
        for (int64_t step = 0; step < 5; ++step) {
            int64_t distance = 1LL << step;
            #pragma omp simd
            for (int64_t t = 0; t < 96; ++t) {
                sent_2[t] = value_2[t];
            }
            #pragma omp simd
            for (int64_t t = 0; t < 96; ++t) {
                float other = ((int32_t)t & 31) + (int32_t)(distance & 31) < 32 ? sent_2[t + (distance & 31)] : sent_2[t];
                if ((t & 31) + distance < lanes_1[t]) {
                    value_2[t] += other;
                }
            }
        }
        int64_t row_3 = 0;
        for (int64_t tx = 0; tx < 96; ++tx) {
            float result_6 = value_2[tx];
            int64_t result_1 = tx + 96 * row_3;
            result_5[tx] = result_6;
            if ((tx & 31) == 0) {
                store_items(of_warps_1, result_1 / 32, result_5[tx]);
            }
        }
        int64_t row_4 = 0;
        #pragma omp simd
        for (int64_t tx = 0; tx < 32; ++tx) {
            int64_t warps = (count_1[tx] + 31) / 32;
            int64_t result_1 = tx + 96 * row_4;
            if (result_1 < warps) {
                result_5[tx] = load_items(of_warps_1, result_1);
            }
            value_4[tx] = result_5[tx];
            lanes_3[tx] = warps;
        }
        for (int64_t step = 0; step < 5; ++step) {
            int64_t distance = 1LL << step;
            #pragma omp simd
            for (int64_t t = 0; t < 32; ++t) {
                sent_3[t] = value_4[t];
            }
            #pragma omp simd
            for (int64_t t = 0; t < 32; ++t) {
                float other = ((int32_t)t & 31) + (int32_t)(distance & 31) < 32 ? sent_3[t + (distance & 31)] : sent_3[t];
                if ((t & 31) + distance < lanes_3[t]) {
                    value_4[t] += other;
                }
            }
        }
        {
            const int64_t t = 0;
            float result_6 = value_4[t];
            result_5[t] = result_6;
        }
        {
            const int64_t tx = 0;
            float result_6 = result_5[tx];
            float result_7 = result_6;
            store_items(of_warps_1, 0, result_7);
        }
        #pragma omp simd
        for (int64_t t = 0; t < 96; ++t) {
            result_3[t] = load_items(of_warps_1, 0);
        }
        #pragma omp simd
        for (int64_t column = 0; column < 96; ++column) {
            float result_6 = result_3[column];
            float result_7 = result_6;
            out[row * out_shape1 + column] = exponential[column] / result_7;
        }
    }
}

#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct softmax_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape1;
    float *p1_data0;
    int64_t p1_shape1;
};

// max(a, b) as in Python: a unless b > a.
static inline float max_f32(float a, float b) {
    return b > a ? b : a;
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
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

void softmax(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct softmax_args *const args = arguments;
    const float *logits = args->p0_data0;
    int64_t logits_shape1 = args->p0_shape1;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float partial[32];
        float greatest[32];
        float total[32];
        int64_t row = blockIdx.x;
        int64_t columns = logits_shape1;
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            greatest[t] = -INFINITY;
        }
        for (int64_t column_first = 0; column_first < columns; column_first += 32) {
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(32LL, columns - column_first); ++tx) {
                int64_t column = column_first + tx;
                greatest[tx] = max_f32(greatest[tx], logits[row * columns + column]);
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            partial[tid] = greatest[tid];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            for (int64_t k = 0; k < 32; ++k) {
                greatest[t] = max_f32(greatest[t], partial[k]);
            }
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            total[t] = 0.0f;
        }
        for (int64_t column_first = 0; column_first < columns; column_first += 32) {
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(32LL, columns - column_first); ++tx) {
                int64_t column = column_first + tx;
                total[tx] += exp_f32(logits[row * columns + column] - greatest[tx]);
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            partial[tid] = total[tid];
        }
        float total_1 = 0.0f;
        for (int64_t k = 0; k < 32; ++k) {
            total_1 += partial[k];
        }
        for (int64_t column_first = 0; column_first < columns; column_first += 32) {
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(32LL, columns - column_first); ++tx) {
                int64_t column = column_first + tx;
                out[row * out_shape1 + column] = exp_f32(logits[row * columns + column] - greatest[tx]) / total_1;
            }
        }
    }
}

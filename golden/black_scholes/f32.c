#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct black_scholes_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const float *p1_data0;
    const float *p2_data0;
    float p3_value0;
    float *p4_data0;
    float *p5_data0;
};

// The natural logarithm, by arithmetic alone, so that it runs in vectors.
static inline __attribute__((always_inline)) float log_f32(float x) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    // a subnormal number is multiplied by 2**23
    const uint32_t tiny = -(uint32_t)(x < 0x1p-126f) & 0x0b800000, scale = 0x3f800000 + tiny;
    float m;
    __builtin_memcpy(&m, &scale, 4);
    m *= x;
    uint32_t bits;
    __builtin_memcpy(&bits, &m, 4);
    const uint32_t e = (bits - 0x3f2aaaab) & 0xff800000; // of 2/3 <= m / 2**e < 4/3
    bits -= e;
    __builtin_memcpy(&m, &bits, 4);
    m -= 1.0f;
    const float i = (float)(int32_t)(e - tiny) * 0x1p-23f, s = m * m;
    float r = fmaf(-0x1.0aep-3f, s, -0x1.f198b2p-4f), t = fmaf(0x1.208p-3f, s, 0x1.1e574p-3f);
    r = fmaf(r, s, -0x1.55b36cp-3f);
    t = fmaf(t, s, 0x1.99d8b2p-3f);
    r = fmaf(r, s, -0x1.fffe02p-3f);
    r = fmaf(t, m, r);
    r = fmaf(r, m, 0x1.5554fap-2f);
    r = fmaf(r, m, -0.5f);
    r = fmaf(r, s, m);
    r = fmaf(i, 0x1.62e43p-1f, r);
    r = x < INFINITY ? r : x;
    r = x >= 0.0f ? r : NAN;
    return x == 0.0f ? -INFINITY : r;
#else
    return logf(x);
#endif
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

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline float normal_below(float x) {
    return 0.5f * (1.0f + erff(x / (float)sqrt(2.0)));
}

void black_scholes(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct black_scholes_args *const args = arguments;
    const float *price = args->p0_data0;
    int64_t price_len = args->p0_shape0;
    const float *strike = args->p1_data0;
    const float *years = args->p2_data0;
    float volatility = args->p3_value0;
    float *call = args->p4_data0;
    float *put = args->p5_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, price_len); ++i) {
            float deviation = volatility * sqrtf(years[i]);
            float drift = (0.02f + 0.5f * volatility * volatility) * years[i];
            float d1 = (log_f32(price[i] / strike[i]) + drift) / deviation;
            float d2 = d1 - deviation;
            float discounted = strike[i] * exp_f32(-0.02f * years[i]);
            call[i] = price[i] * normal_below(d1) - discounted * normal_below(d2);
            put[i] = discounted * normal_below(-d2) - price[i] * normal_below(-d1);
        }
    }
}

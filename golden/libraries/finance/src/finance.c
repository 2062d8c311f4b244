#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct finance_stencil_block_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float *p1_data0;
    int64_t p1_shape1;
    float p2_value0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void finance_stencil_block_body(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct finance_stencil_block_body_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape0 = args->p0_shape0;
    int64_t a_shape1 = args->p0_shape1;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    float weight = args->p2_value0;
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
        int64_t height = a_shape0;
        int64_t width = a_shape1;
        for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                float result = a[y * width + x];
                if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
                    float neighbours = a[y * width + x - 1] + a[y * width + x + 1] + a[(y - 1) * width + x] + a[(y + 1) * width + x];
                    result += weight * (neighbours - 4.0f * a[y * width + x]);
                }
                out[y * out_shape1 + x] = result;
            }
        }
    }
}

struct finance_stencil_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float *p1_data0;
    int64_t p1_shape1;
    float p2_value0;
};

void finance_stencil_body(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct finance_stencil_body_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_shape0 = args->p0_shape0;
    int64_t a_shape1 = args->p0_shape1;
    float *out = args->p1_data0;
    int64_t out_shape1 = args->p1_shape1;
    float weight = args->p2_value0;
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
        const int64_t first_z = ((block / gridDim.x) / gridDim.y) * blockDim.z;
        const int64_t last_z = first_z + blockDim.z;
        int64_t height = a_shape0;
        int64_t width = a_shape1;
        for (int64_t z = first_z; z < last_z; ++z) {
            for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
                #pragma omp simd
                for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                    float result = a[y * width + x];
                    if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
                        float neighbours = a[y * width + x - 1] + a[y * width + x + 1] + a[(y - 1) * width + x] + a[(y + 1) * width + x];
                        result += weight * (neighbours - 4.0f * a[y * width + x]);
                    }
                    out[y * out_shape1 + x] = result;
                }
            }
        }
    }
}

struct finance_block_sums_block_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    double *p1_data0;
    int32_t p2_value0;
};

void finance_block_sums_block_body(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct finance_block_sums_block_body_args *const args = arguments;
    const double *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    int64_t a_stride0 = args->p0_stride0;
    double *sums = args->p1_data0;
    int32_t first = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        double tile[128];
        if (first - blockIdx.x * 128 <= 0 && 128 <= a_len - blockIdx.x * 128) {
            #pragma omp simd
            for (int64_t t = 0; t < 128; ++t) {
                int64_t i = blockIdx.x * 128 + t;
                tile[t] = a[i * a_stride0];
            }
        } else {
            #pragma omp simd
            for (int64_t t = 0; t < 128; ++t) {
                int64_t i = blockIdx.x * 128 + t;
                tile[t] = (first <= i && i < a_len) ? a[i * a_stride0] : 0.0;
            }
        }
        #pragma omp simd
        for (int64_t t = 0; t < 64; ++t) {
            tile[t] += tile[t + 64];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            tile[t] += tile[t + 32];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 16; ++t) {
            tile[t] += tile[t + 16];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 8; ++t) {
            tile[t] += tile[t + 8];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 4; ++t) {
            tile[t] += tile[t + 4];
        }
        for (int64_t t = 0; t < 2; ++t) {
            tile[t] += tile[t + 2];
        }
        {
            const int64_t t = 0;
            tile[t] += tile[t + 1];
        }
        {
            sums[blockIdx.x] = tile[0];
        }
    }
}

struct finance_block_sums_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    double *p1_data0;
    int32_t p2_value0;
};

void finance_block_sums_body(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct finance_block_sums_body_args *const args = arguments;
    const double *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    int64_t a_stride0 = args->p0_stride0;
    double *sums = args->p1_data0;
    int32_t first = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        double tile[128];
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < blockDim.x; ++t) {
                    int64_t i = blockIdx.x * blockDim.x + t;
                    tile[t] = (first <= i && i < a_len) ? a[i * a_stride0] : 0.0;
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < min_i64(blockDim.x, 64LL); ++t) {
                    tile[t] += tile[t + 64];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < min_i64(blockDim.x, 32LL); ++t) {
                    tile[t] += tile[t + 32];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < min_i64(blockDim.x, 16LL); ++t) {
                    tile[t] += tile[t + 16];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < min_i64(blockDim.x, 8LL); ++t) {
                    tile[t] += tile[t + 8];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < min_i64(blockDim.x, 4LL); ++t) {
                    tile[t] += tile[t + 4];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                #pragma omp simd
                for (int64_t t = 0; t < min_i64(blockDim.x, 2LL); ++t) {
                    tile[t] += tile[t + 2];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                {
                    const int64_t t = 0;
                    tile[t] += tile[t + 1];
                }
            }
        }
        for (int64_t tz = 0; tz < blockDim.z; ++tz) {
            for (int64_t ty = 0; ty < blockDim.y; ++ty) {
                {
                    sums[blockIdx.x] = tile[0];
                }
            }
        }
    }
}

struct finance_black_scholes_f32_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const float *p1_data0;
    const float *p2_data0;
    float p3_value0;
    float p4_value0;
    float *p5_data0;
    bool p6_value0;
};

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
__attribute__((simd("notinbranch"), const)) float erfcf(float);
#endif
#endif

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

static inline float normal(float x) {
    return 0.5f * erfcf(-x * 0.70710677f);
}

void finance_black_scholes_f32_body(const void *arguments, int64_t first_block,
                                    int64_t last_block) {
    const struct finance_black_scholes_f32_body_args *const args = arguments;
    const float *price = args->p0_data0;
    int64_t price_len = args->p0_shape0;
    const float *strike = args->p1_data0;
    const float *years = args->p2_data0;
    float rate = args->p3_value0;
    float volatility = args->p4_value0;
    float *result = args->p5_data0;
    bool is_put = args->p6_value0;
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
        const int64_t first_z = ((block / gridDim.x) / gridDim.y) * blockDim.z;
        const int64_t last_z = first_z + blockDim.z;
        for (int64_t z = first_z; z < last_z; ++z) {
            for (int64_t y = first_y; y < last_y; ++y) {
                #pragma omp simd
                for (int64_t i = first_x; i < min_i64(last_x, price_len); ++i) {
                    float deviation = volatility * sqrtf(years[i]);
                    float d1 = (log_f32(price[i] / strike[i]) + (rate + volatility * volatility / 2.0f) * years[i]) / deviation;
                    float discounted = strike[i] * exp_f32(-rate * years[i]);
                    float call = price[i] * normal(d1) - discounted * normal(d1 - deviation);
                    result[i] = is_put ? call - price[i] + discounted : call;
                }
            }
        }
    }
}

struct finance_black_scholes_f32_large_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    const float *p1_data0;
    const float *p2_data0;
    float p3_value0;
    float p4_value0;
    float *p5_data0;
    bool p6_value0;
};

void finance_black_scholes_f32_large_body(const void *arguments, int64_t first_block,
                                          int64_t last_block) {
    const struct finance_black_scholes_f32_large_body_args *const args = arguments;
    const float *price = args->p0_data0;
    int64_t price_len = args->p0_shape0;
    const float *strike = args->p1_data0;
    const float *years = args->p2_data0;
    float rate = args->p3_value0;
    float volatility = args->p4_value0;
    float *result = args->p5_data0;
    bool is_put = args->p6_value0;
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
        const int64_t first_z = ((block / gridDim.x) / gridDim.y) * blockDim.z;
        const int64_t last_z = first_z + blockDim.z;
        for (int64_t z = first_z; z < last_z; ++z) {
            for (int64_t y = first_y; y < last_y; ++y) {
                #pragma omp simd
                for (int64_t i = first_x; i < min_i64(last_x, price_len); ++i) {
                    float deviation = volatility * sqrtf(years[i]);
                    float d1 = (log_f32(price[i] / strike[i]) + (rate + volatility * volatility / 2.0f) * years[i]) / deviation;
                    float discounted = strike[i] * exp_f32(-rate * years[i]);
                    float call = price[i] * normal(d1) - discounted * normal(d1 - deviation);
                    result[i] = is_put ? call - price[i] + discounted : call;
                }
            }
        }
    }
}

struct finance_black_scholes_f64_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape0;
    const double *p1_data0;
    const double *p2_data0;
    double p3_value0;
    double p4_value0;
    double *p5_data0;
    bool p6_value0;
};

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
__attribute__((simd("notinbranch"), const)) double erfc(double);
#endif
#endif

static inline double normal_1(double x) {
    return 0.5 * erfc(-x * 0.7071067811865476);
}

void finance_black_scholes_f64_body(const void *arguments, int64_t first_block,
                                    int64_t last_block) {
    const struct finance_black_scholes_f64_body_args *const args = arguments;
    const double *price = args->p0_data0;
    int64_t price_len = args->p0_shape0;
    const double *strike = args->p1_data0;
    const double *years = args->p2_data0;
    double rate = args->p3_value0;
    double volatility = args->p4_value0;
    double *result = args->p5_data0;
    bool is_put = args->p6_value0;
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
        const int64_t first_z = ((block / gridDim.x) / gridDim.y) * blockDim.z;
        const int64_t last_z = first_z + blockDim.z;
        for (int64_t z = first_z; z < last_z; ++z) {
            for (int64_t y = first_y; y < last_y; ++y) {
                #pragma omp simd
                for (int64_t i = first_x; i < min_i64(last_x, price_len); ++i) {
                    double deviation = volatility * sqrt(years[i]);
                    double d1 = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2.0) * years[i]) / deviation;
                    double discounted = strike[i] * exp(-rate * years[i]);
                    double call = price[i] * normal_1(d1) - discounted * normal_1(d1 - deviation);
                    result[i] = is_put ? call - price[i] + discounted : call;
                }
            }
        }
    }
}

struct finance_black_scholes_f64_large_body_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape0;
    const double *p1_data0;
    const double *p2_data0;
    double p3_value0;
    double p4_value0;
    double *p5_data0;
    bool p6_value0;
};

void finance_black_scholes_f64_large_body(const void *arguments, int64_t first_block,
                                          int64_t last_block) {
    const struct finance_black_scholes_f64_large_body_args *const args = arguments;
    const double *price = args->p0_data0;
    int64_t price_len = args->p0_shape0;
    const double *strike = args->p1_data0;
    const double *years = args->p2_data0;
    double rate = args->p3_value0;
    double volatility = args->p4_value0;
    double *result = args->p5_data0;
    bool is_put = args->p6_value0;
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
        const int64_t first_z = ((block / gridDim.x) / gridDim.y) * blockDim.z;
        const int64_t last_z = first_z + blockDim.z;
        for (int64_t z = first_z; z < last_z; ++z) {
            for (int64_t y = first_y; y < last_y; ++y) {
                #pragma omp simd
                for (int64_t i = first_x; i < min_i64(last_x, price_len); ++i) {
                    double deviation = volatility * sqrt(years[i]);
                    double d1 = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2.0) * years[i]) / deviation;
                    double discounted = strike[i] * exp(-rate * years[i]);
                    double call = price[i] * normal_1(d1) - discounted * normal_1(d1 - deviation);
                    result[i] = is_put ? call - price[i] + discounted : call;
                }
            }
        }
    }
}

#include <math.h>
#include <stdint.h>

struct u32_u32_u32_u32 {
    uint32_t item0;
    uint32_t item1;
    uint32_t item2;
    uint32_t item3;
};

struct f32_f32 {
    float item0;
    float item1;
};

struct f32_f32_f32_f32 {
    float item0;
    float item1;
    float item2;
    float item3;
};

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct philox_noise_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    int64_t p0_value0;
    float *p1_data0;
    int64_t p1_shape0;
};

// The bits of x as another type.
static inline int32_t float_as_int(float x) {
    int32_t same;
    __builtin_memcpy(&same, &x, sizeof same);
    return same;
}

// The bits of x as another type.
static inline float int_as_float(int32_t x) {
    float same;
    __builtin_memcpy(&same, &x, sizeof same);
    return same;
}

// x, with 0.0 in place of -0.0.
static inline float positive_zero_f32(float x) {
    return x + 0;
}

// The absolute value; the least integer wraps to itself.
static inline int32_t abs_i32(int32_t x) {
    return x < 0 ? (int32_t)(0 - (uint32_t)x) : x;
}

static inline struct u32_u32_u32_u32 philox4x32(uint32_t key_0, uint32_t key_1, uint32_t counter_0,
                                                uint32_t counter_1, uint32_t counter_2,
                                                uint32_t counter_3) {
    uint32_t k0 = key_0;
    uint32_t k1 = key_1;
    uint32_t c0 = counter_0;
    uint32_t c1 = counter_1;
    uint32_t c2 = counter_2;
    uint32_t c3 = counter_3;
    for (int64_t _ = 0; _ < 10; ++_) {
        uint64_t even = (uint64_t)c0 * 3528531795ULL;
        uint64_t odd = (uint64_t)c2 * 3449720151ULL;
        c0 = (uint32_t)(odd >> 32) ^ c1 ^ k0;
        c1 = odd;
        c2 = (uint32_t)(even >> 32) ^ c3 ^ k1;
        c3 = even;
        k0 += 2654435769U;
        k1 += 3144134277U;
    }
    return (struct u32_u32_u32_u32){c0, c1, c2, c3};
}

static inline struct u32_u32_u32_u32 philox_uint32x4(int64_t seed, int64_t subsequence,
                                                  int64_t offset) {
    uint64_t s = seed;
    uint64_t q = subsequence;
    uint64_t n = offset;
    uint32_t key_0 = s;
    uint32_t key_1 = s >> 32;
    uint32_t counter_0 = n;
    uint32_t counter_1 = n >> 32;
    uint32_t counter_2 = q;
    uint32_t counter_3 = q >> 32;
    struct u32_u32_u32_u32 philox4x32_1 = philox4x32(key_0, key_1, counter_0, counter_1, counter_2, counter_3);
    return (struct u32_u32_u32_u32){philox4x32_1.item0, philox4x32_1.item1, philox4x32_1.item2, philox4x32_1.item3};
}

static inline float log_float32(float x) {
    int32_t bits = float_as_int(x);
    int32_t exponent = (int32_t)((uint32_t)bits - 1059760811) & -8388608;
    float f = int_as_float((int32_t)((uint32_t)bits - exponent)) - 1.0f;
    float k = exponent * 1.1920929e-07f;
    float p = -0.12125581f;
    float p_1 = fmaf(p, f, 0.1342575f);
    float p_2 = fmaf(p_1, f, -0.1234619f);
    float p_3 = fmaf(p_2, f, 0.1411831f);
    float p_4 = fmaf(p_3, f, -0.1667014f);
    float p_5 = fmaf(p_4, f, 0.2000378f);
    float p_6 = fmaf(p_5, f, -0.24999988f);
    float p_7 = fmaf(p_6, f, 0.3333332f);
    float p_8 = fmaf(p_7, f, -0.5f);
    return fmaf(k, 0.6931472f, fmaf(p_8, f * f, f));
}

static inline float sin_pi_float32(float t) {
    float z = t * t;
    float p = 0.078539714f;
    float p_1 = fmaf(p, z, -0.5987049f);
    float p_2 = fmaf(p_1, z, 2.550136f);
    float p_3 = fmaf(p_2, z, -5.1677127f);
    return fmaf(t, 3.1415927f, t * fmaf(p_3, z, -8.742278e-08f));
}

static inline struct f32_f32 _normals_float32(uint32_t x, uint32_t y) {
    float u = positive_zero_f32((float)x) * 2.3283064e-10f + 1.1641532e-10f;
    float radius = sqrtf(-2.0f * log_float32(u));
    int32_t turn = y;
    int32_t quarter = 1073741824;
    float sine = sin_pi_float32((int32_t)((uint32_t)quarter - abs_i32((int32_t)((uint32_t)turn - quarter))) * 4.656613e-10f);
    float cosine = sin_pi_float32((int32_t)((uint32_t)quarter - abs_i32(turn)) * 4.656613e-10f);
    return (struct f32_f32){radius * sine, radius * cosine};
}

static inline struct f32_f32_f32_f32 philox_normal_float32x4(int64_t seed, int64_t subsequence,
                                                  int64_t offset) {
    struct u32_u32_u32_u32 philox_uint32x4_1 = philox_uint32x4(seed, subsequence, offset);
    uint32_t a = philox_uint32x4_1.item0;
    uint32_t b = philox_uint32x4_1.item1;
    uint32_t c = philox_uint32x4_1.item2;
    uint32_t d = philox_uint32x4_1.item3;
    struct f32_f32 _normals_float32_1 = _normals_float32(a, b);
    float first = _normals_float32_1.item0;
    float first_1 = _normals_float32_1.item1;
    struct f32_f32 _normals_float32_2 = _normals_float32(c, d);
    return (struct f32_f32_f32_f32){first, first_1, _normals_float32_2.item0, _normals_float32_2.item1};
}

void philox_noise(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct philox_noise_args *const args = arguments;
    int64_t seed = args->p0_value0;
    float *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < last_x; ++i) {
            if (4 * i < out_len) {
                struct f32_f32_f32_f32 philox_normal_float32x4_1 = philox_normal_float32x4(seed, 0, i);
                float z = philox_normal_float32x4_1.item0;
                out[4 * i] = z;
                float z_1 = philox_normal_float32x4_1.item1;
                out[4 * i + 1] = z_1;
                float z_2 = philox_normal_float32x4_1.item2;
                out[4 * i + 2] = z_2;
                float z_3 = philox_normal_float32x4_1.item3;
                out[4 * i + 3] = z_3;
            }
        }
    }
}

struct u32_u32_u32_u32 {
    unsigned int item0;
    unsigned int item1;
    unsigned int item2;
    unsigned int item3;
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

// The absolute value; the least integer wraps to itself.
__device__ __forceinline__ int abs_i32(int x) {
    return x < 0 ? (int)(0 - (unsigned int)x) : x;
}

__device__ u32_u32_u32_u32 philox4x32(unsigned int key_0, unsigned int key_1,
                                      unsigned int counter_0, unsigned int counter_1,
                                      unsigned int counter_2, unsigned int counter_3) {
    unsigned int k0 = key_0;
    unsigned int k1 = key_1;
    unsigned int c0 = counter_0;
    unsigned int c1 = counter_1;
    unsigned int c2 = counter_2;
    unsigned int c3 = counter_3;
    for (int _ = 0; _ < 10; ++_) {
        unsigned long long even = (unsigned long long)c0 * 3528531795ULL;
        unsigned long long odd = (unsigned long long)c2 * 3449720151ULL;
        c0 = (unsigned int)(odd >> 32) ^ c1 ^ k0;
        c1 = odd;
        c2 = (unsigned int)(even >> 32) ^ c3 ^ k1;
        c3 = even;
        k0 += 2654435769U;
        k1 += 3144134277U;
    }
    return u32_u32_u32_u32{c0, c1, c2, c3};
}

__device__ u32_u32_u32_u32 philox_uint32x4(int seed, int subsequence, int offset) {
    unsigned long long s = seed;
    unsigned long long q = subsequence;
    unsigned long long n = offset;
    unsigned int key_0 = s;
    unsigned int key_1 = s >> 32;
    unsigned int counter_0 = n;
    unsigned int counter_1 = n >> 32;
    unsigned int counter_2 = q;
    unsigned int counter_3 = q >> 32;
    u32_u32_u32_u32 philox4x32_1 = philox4x32(key_0, key_1, counter_0, counter_1, counter_2, counter_3);
    return u32_u32_u32_u32{philox4x32_1.item0, philox4x32_1.item1, philox4x32_1.item2, philox4x32_1.item3};
}

__device__ float log_float32(float x) {
    int bits = __float_as_int(x);
    int exponent = (int)((unsigned int)bits - 1059760811) & -8388608;
    float f = __int_as_float((int)((unsigned int)bits - exponent)) - 1.0f;
    float k = exponent * 1.1920929e-07f;
    float p = -0.12125581f;
    p = fmaf(p, f, 0.1342575f);
    p = fmaf(p, f, -0.1234619f);
    p = fmaf(p, f, 0.1411831f);
    p = fmaf(p, f, -0.1667014f);
    p = fmaf(p, f, 0.2000378f);
    p = fmaf(p, f, -0.24999988f);
    p = fmaf(p, f, 0.3333332f);
    p = fmaf(p, f, -0.5f);
    return fmaf(k, 0.6931472f, fmaf(p, f * f, f));
}

__device__ float sin_pi_float32(float t) {
    float z = t * t;
    float p = 0.078539714f;
    p = fmaf(p, z, -0.5987049f);
    p = fmaf(p, z, 2.550136f);
    p = fmaf(p, z, -5.1677127f);
    return fmaf(t, 3.1415927f, t * fmaf(p, z, -8.742278e-08f));
}

__device__ f32_f32 _normals_float32(unsigned int x, unsigned int y) {
    float u = x * 2.3283064e-10f + 1.1641532e-10f;
    float radius = sqrtf(-2.0f * log_float32(u));
    int turn = y;
    int quarter = 1073741824;
    float sine = sin_pi_float32((int)((unsigned int)quarter - abs_i32((int)((unsigned int)turn - quarter))) * 4.656613e-10f);
    float cosine = sin_pi_float32((int)((unsigned int)quarter - abs_i32(turn)) * 4.656613e-10f);
    return f32_f32{radius * sine, radius * cosine};
}

__device__ f32_f32_f32_f32 philox_normal_float32x4(int seed, int subsequence, int offset) {
    u32_u32_u32_u32 philox_uint32x4_1 = philox_uint32x4(seed, subsequence, offset);
    unsigned int a = philox_uint32x4_1.item0;
    unsigned int b = philox_uint32x4_1.item1;
    unsigned int c = philox_uint32x4_1.item2;
    unsigned int d = philox_uint32x4_1.item3;
    f32_f32 _normals_float32_1 = _normals_float32(a, b);
    float first = _normals_float32_1.item0;
    float first_1 = _normals_float32_1.item1;
    f32_f32 _normals_float32_2 = _normals_float32(c, d);
    return f32_f32_f32_f32{first, first_1, _normals_float32_2.item0, _normals_float32_2.item1};
}

extern "C" __global__ void philox_noise(int seed, float *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * (long long)i < out_len) {
        f32_f32_f32_f32 philox_normal_float32x4_1 = philox_normal_float32x4(seed, 0, i);
        float z = philox_normal_float32x4_1.item0;
        out[4 * i] = z;
        z = philox_normal_float32x4_1.item1;
        out[4 * i + 1] = z;
        z = philox_normal_float32x4_1.item2;
        out[4 * i + 2] = z;
        z = philox_normal_float32x4_1.item3;
        out[4 * i + 3] = z;
    }
}

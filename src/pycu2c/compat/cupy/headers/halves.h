// float16 and bfloat16: they convert to float, arithmetic is done in float, and results are rounded
// when they are stored.
__device__ inline unsigned short _half_of(float x) {
#ifndef __PYCU2C_CPU__
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    unsigned int word;
    memcpy(&word, &x, 4);
    const unsigned int sign = word >> 16 & 0x8000, magnitude = word & 0x7fffffff;
    if (magnitude >= 0x7f800000) return sign | 0x7c00 | (magnitude > 0x7f800000 ? 0x200 : 0); // infinity or NaN
    if (magnitude >= 0x477ff000) return sign | 0x7c00;
    if (magnitude < 0x33000001) return sign;
    const int exponent = (int)(magnitude >> 23) - 112;
    const int dropped_bits = exponent > 0 ? 13 : 14 - exponent;
    const unsigned int significand =
        exponent > 0 ? magnitude - (112u << 23) : (magnitude & 0x7fffff) | 0x800000;
    const unsigned int half_unit = 1u << (dropped_bits - 1), odd = significand >> dropped_bits & 1;
    return sign | ((significand + half_unit - 1 + odd) >> dropped_bits);
#endif
}

__device__ inline float _float_of(unsigned short bits) {
    float x;
#ifndef __PYCU2C_CPU__
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
#else
    const unsigned int sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude < 0x400) {
        x = magnitude * 0x1p-24f;
        return sign ? -x : x;
    }
    const unsigned int exponent_offset = magnitude >= 0x7c00 ? 0x70000000 : 0x38000000;
    const unsigned int word = sign | (exponent_offset + (magnitude << 13));
    memcpy(&x, &word, 4);
#endif
    return x;
}

class float16 {
    unsigned short _bits;

  public:
    __device__ float16() : _bits(0) {}
    __device__ float16(float x) : _bits(_half_of(x)) {}
    __device__ operator float() const { return _float_of(_bits); }
    __device__ float16 &operator+=(float x) { return *this = *this + x; }
    __device__ float16 &operator-=(float x) { return *this = *this - x; }
    __device__ float16 &operator*=(float x) { return *this = *this * x; }
    __device__ float16 &operator/=(float x) { return *this = *this / x; }
};

class bfloat16 {
    unsigned short _bits;

  public:
    __device__ bfloat16() : _bits(0) {}
    __device__ bfloat16(float x) {
        unsigned int word;
        memcpy(&word, &x, 4);
        _bits = x != x ? word >> 16 | 0x40 : (word + 0x7fff + (word >> 16 & 1)) >> 16;
    }
    __device__ operator float() const {
        const unsigned int word = (unsigned int)_bits << 16;
        float x;
        memcpy(&x, &word, 4);
        return x;
    }
    __device__ bfloat16 &operator+=(float x) { return *this = *this + x; }
    __device__ bfloat16 &operator-=(float x) { return *this = *this - x; }
    __device__ bfloat16 &operator*=(float x) { return *this = *this * x; }
    __device__ bfloat16 &operator/=(float x) { return *this = *this / x; }
};

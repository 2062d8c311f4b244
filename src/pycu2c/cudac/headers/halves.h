/* __half: kept in 16 bits, computed in 32. */

namespace pycu2c {
static inline float float_of_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, rest = h & 1023, bits;
    if (exponent == 31) bits = sign | 0x7f800000 | rest << 13;
    else if (exponent) bits = sign | (exponent + 112) << 23 | rest << 13;
    else {
        float small = (float)rest * 0x1p-24f;
        memcpy(&bits, &small, 4);
        bits |= sign;
    }
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline uint16_t half_of_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t size = bits & 0x7fffffff;
    if (size > 0x7f800000) return (uint16_t)(sign | 0x7fff);
    if (size >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (size < 0x38800000) {
        float rest;
        memcpy(&rest, &size, 4);
        rest += 0.5f; /* whose last bit is 2^-24 */
        memcpy(&size, &rest, 4);
        return (uint16_t)(sign | (size - 0x3f000000));
    }
    size += 0xfff + (size >> 13 & 1);
    return (uint16_t)(sign | (size - 0x38000000) >> 13);
}
/* Rounded once: what a float has not is left in its last bit. */
static inline uint16_t half_of_double(double x) {
    float f = (float)x;
    if (isfinite(f) && (double)f != x) {
        uint32_t bits;
        memcpy(&bits, &f, 4);
        bits = (fabs((double)f) > fabs(x) ? bits - 1 : bits) | 1;
        memcpy(&f, &bits, 4);
    }
    return half_of_float(f);
}
} // namespace pycu2c

struct __half {
    uint16_t bits;
    __half() = default;
    __half(float x) : bits(pycu2c::half_of_float(x)) {}
    __half(double x) : bits(pycu2c::half_of_double(x)) {}
    __half(int x) : bits(pycu2c::half_of_float((float)x)) {}
    __half(unsigned x) : bits(pycu2c::half_of_float((float)x)) {}
    __half(long long x) : bits(pycu2c::half_of_float((float)x)) {}
    operator float() const { return pycu2c::float_of_half(bits); }
    __half &operator+=(__half o) { return *this = __half((float)*this + (float)o); }
    __half &operator-=(__half o) { return *this = __half((float)*this - (float)o); }
    __half &operator*=(__half o) { return *this = __half((float)*this * (float)o); }
    __half &operator/=(__half o) { return *this = __half((float)*this / (float)o); }
};
typedef __half half;
struct __half2 { __half x, y; } __attribute__((aligned(4)));
typedef __half2 half2;
#define PYCU2C_OF_HALVES(op) static inline __half operator op(__half a, __half b) { return __half((float)a op (float)b); }
PYCU2C_OF_HALVES(+)
PYCU2C_OF_HALVES(-)
PYCU2C_OF_HALVES(*)
PYCU2C_OF_HALVES(/)
#undef PYCU2C_OF_HALVES
static inline __half operator-(__half a) { return __half(-(float)a); }
static inline __half __float2half(float x) { return __half(x); }
static inline __half __float2half_rn(float x) { return __half(x); }
static inline __half __double2half(double x) { return __half(x); }
static inline float __half2float(__half x) { return (float)x; }
static inline __half __int2half_rn(int x) { return __half(x); }
static inline __half __hadd(__half a, __half b) { return a + b; }
static inline __half __hsub(__half a, __half b) { return a - b; }
static inline __half __hmul(__half a, __half b) { return a * b; }
static inline __half __hadd_rn(__half a, __half b) { return a + b; }
static inline __half __hsub_rn(__half a, __half b) { return a - b; }
static inline __half __hmul_rn(__half a, __half b) { return a * b; }
static inline __half __hdiv(__half a, __half b) { return a / b; }
static inline __half __hneg(__half a) { return -a; }
static inline __half __hfma(__half a, __half b, __half c) { return __half(fma((double)(float)a, (double)(float)b, (double)(float)c)); }
static inline bool __heq(__half a, __half b) { return (float)a == (float)b; }
static inline bool __hlt(__half a, __half b) { return (float)a < (float)b; }
static inline bool __hgt(__half a, __half b) { return (float)a > (float)b; }
static inline bool __hle(__half a, __half b) { return (float)a <= (float)b; }
static inline bool __hge(__half a, __half b) { return (float)a >= (float)b; }
static inline bool __hisnan(__half a) { return isnan((float)a); }
static inline __half hsqrt(__half a) { return __half(sqrtf((float)a)); }
static inline __half hexp(__half a) { return __half(expf((float)a)); }
static inline __half hlog(__half a) { return __half(logf((float)a)); }
static inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
static inline float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
static inline __half2 __hadd2(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
static inline __half2 __hmul2(__half2 a, __half2 b) { return {a.x * b.x, a.y * b.y}; }
static inline unsigned short __half_as_ushort(__half a) { return a.bits; }
static inline __half __ushort_as_half(unsigned short b) { __half h; h.bits = b; return h; }

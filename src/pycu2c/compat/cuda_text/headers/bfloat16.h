/* __nv_bfloat16: the upper half of a float, computed in 32 bits. */

struct __nv_bfloat16 {
    uint16_t bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float x) {
        uint32_t float_bits;
        memcpy(&float_bits, &x, 4);
        bits = x != x ? 0x7fff : (uint16_t)((float_bits + 0x7fff + (float_bits >> 16 & 1)) >> 16);
    }
    __nv_bfloat16(double x) : __nv_bfloat16(rounded(x)) {}
    __nv_bfloat16(int x) : __nv_bfloat16((double)x) {}
    __nv_bfloat16(unsigned x) : __nv_bfloat16((double)x) {}
    operator float() const {
        uint32_t float_bits = (uint32_t)bits << 16;
        float x;
        memcpy(&x, &float_bits, 4);
        return x;
    }
    __nv_bfloat16 &operator+=(__nv_bfloat16 o) { return *this = (float)*this + (float)o; }
    __nv_bfloat16 &operator-=(__nv_bfloat16 o) { return *this = (float)*this - (float)o; }
    __nv_bfloat16 &operator*=(__nv_bfloat16 o) { return *this = (float)*this * (float)o; }
    __nv_bfloat16 &operator/=(__nv_bfloat16 o) { return *this = (float)*this / (float)o; }

  private:
    /* Round to odd, so that the conversion rounds once. */
    static float rounded(double x) {
        float f = (float)x;
        if (isfinite(f) && (double)f != x) {
            uint32_t float_bits;
            memcpy(&float_bits, &f, 4);
            float_bits = (fabs((double)f) > fabs(x) ? float_bits - 1 : float_bits) | 1;
            memcpy(&f, &float_bits, 4);
        }
        return f;
    }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __nv_bfloat162 { __nv_bfloat16 x, y; } __attribute__((aligned(4)));
typedef __nv_bfloat162 nv_bfloat162;
#define PYCU2C_OF_TWO(sign, name) \
    static inline __nv_bfloat16 operator sign(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a sign (float)b; } \
    static inline __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) { return a sign b; } \
    static inline __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x sign b.x, a.y sign b.y}; } \
    static inline __nv_bfloat162 operator sign(__nv_bfloat162 a, __nv_bfloat162 b) { return name##2(a, b); }
PYCU2C_OF_TWO(+, __hadd)
PYCU2C_OF_TWO(-, __hsub)
PYCU2C_OF_TWO(*, __hmul)
#undef PYCU2C_OF_TWO
static inline __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a / (float)b; }
static inline __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return a / b; }
static inline __nv_bfloat16 operator-(__nv_bfloat16 a) { return -(float)a; }
static inline __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
static inline __nv_bfloat16 __habs(__nv_bfloat16 a) { return fabsf((float)a); }
static inline __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return fmaxf((float)a, (float)b); }
static inline __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return fminf((float)a, (float)b); }
static inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return fma((double)(float)a, (double)(float)b, (double)(float)c);
}
#define PYCU2C_COMPARED(name, sign) \
    static inline bool name(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a sign (float)b; }
PYCU2C_COMPARED(__heq, ==)
PYCU2C_COMPARED(__hlt, <)
PYCU2C_COMPARED(__hle, <=)
PYCU2C_COMPARED(__hgt, >)
PYCU2C_COMPARED(__hge, >=)
#undef PYCU2C_COMPARED
static inline bool __hisnan(__nv_bfloat16 a) { return isnan((float)a); }
static inline __nv_bfloat16 hsqrt(__nv_bfloat16 a) { return sqrtf((float)a); }
static inline __nv_bfloat16 hexp(__nv_bfloat16 a) { return expf((float)a); }
static inline __nv_bfloat16 hlog(__nv_bfloat16 a) { return logf((float)a); }
static inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
static inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
static inline __nv_bfloat16 __double2bfloat16(double x) { return x; }
static inline __nv_bfloat16 __int2bfloat16_rn(int x) { return x; }
static inline float __bfloat162float(__nv_bfloat16 x) { return x; }
static inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
static inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
static inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
static inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
static inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
static inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
static inline float __low2float(__nv_bfloat162 a) { return a.x; }
static inline float __high2float(__nv_bfloat162 a) { return a.y; }
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) {
    __nv_bfloat16 x;
    x.bits = b;
    return x;
}

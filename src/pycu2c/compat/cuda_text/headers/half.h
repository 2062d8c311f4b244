/* __half: stored in 16 bits, computed in 32. */

namespace pycu2c {
static inline float float_of_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023, bits;
    if (exponent == 31) bits = sign | 0x7f800000 | fraction << 13;
    else if (exponent) bits = sign | (exponent + 112) << 23 | fraction << 13;
    else {
        float subnormal = (float)fraction * 0x1p-24f;
        memcpy(&bits, &subnormal, 4);
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
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7fff);
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) {
        float sum;
        memcpy(&sum, &magnitude, 4);
        sum += 0.5f; /* the last bit of the sum is 2^-24 */
        memcpy(&magnitude, &sum, 4);
        return (uint16_t)(sign | (magnitude - 0x3f000000));
    }
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (magnitude - 0x38000000) >> 13);
}
/* Round to odd first, so that the conversion to half rounds once. */
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
#define PYCU2C_HALF_OPERATOR(op) static inline __half operator op(__half a, __half b) { return __half((float)a op (float)b); }
PYCU2C_HALF_OPERATOR(+)
PYCU2C_HALF_OPERATOR(-)
PYCU2C_HALF_OPERATOR(*)
PYCU2C_HALF_OPERATOR(/)
#undef PYCU2C_HALF_OPERATOR
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
static inline bool __hne(__half a, __half b) { return (float)a < (float)b || (float)a > (float)b; }
static inline int __hisinf(__half a) { return isinf((float)a) ? (float)a < 0 ? -1 : 1 : 0; }
static inline __half __habs(__half a) { return __half(fabsf((float)a)); }
static inline __half __hmax(__half a, __half b) { return __half(fmaxf((float)a, (float)b)); }
static inline __half __hmin(__half a, __half b) { return __half(fminf((float)a, (float)b)); }
static inline __half hrsqrt(__half a) { return __half(1 / sqrt((double)(float)a)); }
static inline __half hrcp(__half a) { return __half(1 / (double)(float)a); }
#define PYCU2C_HALF_FUNCTION(name) static inline __half h##name(__half a) { return __half(name##f((float)a)); }
PYCU2C_HALF_FUNCTION(sin)
PYCU2C_HALF_FUNCTION(cos)
PYCU2C_HALF_FUNCTION(exp2)
PYCU2C_HALF_FUNCTION(log2)
PYCU2C_HALF_FUNCTION(log10)
PYCU2C_HALF_FUNCTION(floor)
PYCU2C_HALF_FUNCTION(ceil)
PYCU2C_HALF_FUNCTION(trunc)
PYCU2C_HALF_FUNCTION(rint)
#undef PYCU2C_HALF_FUNCTION
#define PYCU2C_HALF_TO_INTEGER(name, type) \
    static inline type __half2##name##_rn(__half a) { return (type)rintf((float)a); } \
    static inline type __half2##name##_rz(__half a) { return (type)(float)a; } \
    static inline type __half2##name##_rd(__half a) { return (type)floorf((float)a); } \
    static inline type __half2##name##_ru(__half a) { return (type)ceilf((float)a); }
PYCU2C_HALF_TO_INTEGER(int, int)
PYCU2C_HALF_TO_INTEGER(uint, unsigned)
PYCU2C_HALF_TO_INTEGER(short, short)
PYCU2C_HALF_TO_INTEGER(ushort, unsigned short)
PYCU2C_HALF_TO_INTEGER(ll, long long)
PYCU2C_HALF_TO_INTEGER(ull, unsigned long long)
#undef PYCU2C_HALF_TO_INTEGER
static inline __half __uint2half_rn(unsigned x) { return __half(x); }
static inline __half __short2half_rn(short x) { return __half((int)x); }
static inline __half __ushort2half_rn(unsigned short x) { return __half((int)x); }
static inline __half __ll2half_rn(long long x) { return __half(x); }
static inline __half __float2half_rz(float x) {
    __half h(x);
    if (fabsf((float)h) > fabsf(x)) h.bits--;
    return h;
}

/* __half2 */
static inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
static inline __half2 make_half2(__half a, __half b) { return {a, b}; }
static inline __half2 __half2half2(__half a) { return {a, a}; }
static inline __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
static inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
static inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
static inline float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
static inline __half __low2half(__half2 a) { return a.x; }
static inline __half __high2half(__half2 a) { return a.y; }
static inline float __low2float(__half2 a) { return (float)a.x; }
static inline float __high2float(__half2 a) { return (float)a.y; }
static inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
static inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
static inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
static inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
static inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
static inline __half2 __hneg2(__half2 a) { return {-a.x, -a.y}; }
static inline __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#define PYCU2C_HALF2_FUNCTION(name, function) \
    static inline __half2 name(__half2 a, __half2 b) { return {function(a.x, b.x), function(a.y, b.y)}; }
PYCU2C_HALF2_FUNCTION(__hadd2, __hadd)
PYCU2C_HALF2_FUNCTION(__hsub2, __hsub)
PYCU2C_HALF2_FUNCTION(__hmul2, __hmul)
PYCU2C_HALF2_FUNCTION(__h2div, __hdiv)
PYCU2C_HALF2_FUNCTION(__hmax2, __hmax)
PYCU2C_HALF2_FUNCTION(__hmin2, __hmin)
PYCU2C_HALF2_FUNCTION(__heq2, __heq)
PYCU2C_HALF2_FUNCTION(__hne2, __hne)
PYCU2C_HALF2_FUNCTION(__hlt2, __hlt)
PYCU2C_HALF2_FUNCTION(__hle2, __hle)
PYCU2C_HALF2_FUNCTION(__hgt2, __hgt)
PYCU2C_HALF2_FUNCTION(__hge2, __hge)
PYCU2C_HALF2_FUNCTION(operator+, __hadd)
PYCU2C_HALF2_FUNCTION(operator-, __hsub)
PYCU2C_HALF2_FUNCTION(operator*, __hmul)
PYCU2C_HALF2_FUNCTION(operator/, __hdiv)
#undef PYCU2C_HALF2_FUNCTION
static inline bool __hbeq2(__half2 a, __half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
static inline bool __hbne2(__half2 a, __half2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
static inline bool __hblt2(__half2 a, __half2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
static inline bool __hble2(__half2 a, __half2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
static inline bool __hbgt2(__half2 a, __half2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
static inline bool __hbge2(__half2 a, __half2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
static inline __half2 h2sqrt(__half2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }
static inline __half2 h2rsqrt(__half2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }
static inline __half2 h2rcp(__half2 a) { return {hrcp(a.x), hrcp(a.y)}; }
static inline __half2 h2exp(__half2 a) { return {hexp(a.x), hexp(a.y)}; }
static inline __half2 h2exp2(__half2 a) { return {hexp2(a.x), hexp2(a.y)}; }
static inline __half2 h2log(__half2 a) { return {hlog(a.x), hlog(a.y)}; }
static inline __half2 h2log2(__half2 a) { return {hlog2(a.x), hlog2(a.y)}; }
static inline __half2 h2log10(__half2 a) { return {hlog10(a.x), hlog10(a.y)}; }
static inline __half2 h2sin(__half2 a) { return {hsin(a.x), hsin(a.y)}; }
static inline __half2 h2cos(__half2 a) { return {hcos(a.x), hcos(a.y)}; }
static inline __half2 h2floor(__half2 a) { return {hfloor(a.x), hfloor(a.y)}; }
static inline __half2 h2ceil(__half2 a) { return {hceil(a.x), hceil(a.y)}; }
static inline __half2 h2trunc(__half2 a) { return {htrunc(a.x), htrunc(a.y)}; }
static inline __half2 h2rint(__half2 a) { return {hrint(a.x), hrint(a.y)}; }
static inline unsigned short __half_as_ushort(__half a) { return a.bits; }
static inline __half __ushort_as_half(unsigned short b) { __half h; h.bits = b; return h; }

/* CUDA's arithmetic functions that are no intrinsics of pycu2c, or are overloaded. scalar_functions.py
 * generates the others. */

#define PYCU2C_MIN_AND_MAX(type, a, b)                                                           \
    static inline type min(a x, b y) { return (type)y < (type)x ? (type)y : (type)x; }              \
    static inline type max(a x, b y) { return (type)x < (type)y ? (type)y : (type)x; }
PYCU2C_MIN_AND_MAX(int, int, int)
PYCU2C_MIN_AND_MAX(unsigned, unsigned, unsigned)
PYCU2C_MIN_AND_MAX(unsigned, int, unsigned)
PYCU2C_MIN_AND_MAX(unsigned, unsigned, int)
PYCU2C_MIN_AND_MAX(long, long, long)
PYCU2C_MIN_AND_MAX(unsigned long, unsigned long, unsigned long)
PYCU2C_MIN_AND_MAX(unsigned long, long, unsigned long)
PYCU2C_MIN_AND_MAX(unsigned long, unsigned long, long)
PYCU2C_MIN_AND_MAX(long long, long long, long long)
PYCU2C_MIN_AND_MAX(unsigned long long, unsigned long long, unsigned long long)
PYCU2C_MIN_AND_MAX(unsigned long long, long long, unsigned long long)
PYCU2C_MIN_AND_MAX(unsigned long long, unsigned long long, long long)
#undef PYCU2C_MIN_AND_MAX
static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }
static inline double min(float x, double y) { return fmin((double)x, y); }
static inline double max(float x, double y) { return fmax((double)x, y); }
static inline double min(double x, float y) { return fmin(x, (double)y); }
static inline double max(double x, float y) { return fmax(x, (double)y); }
static inline unsigned umin(unsigned x, unsigned y) { return min(x, y); }
static inline unsigned umax(unsigned x, unsigned y) { return max(x, y); }
static inline long long llmin(long long x, long long y) { return min(x, y); }
static inline long long llmax(long long x, long long y) { return max(x, y); }
static inline unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
static inline unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }

/* ---- bits ---- */

static inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    for (unsigned i = base; i < 32; offset < 0 ? i-- : i++) {
        if (mask >> i & 1 && (offset < 0 ? ++offset == 0 : offset-- <= 1)) return i;
    }
    return 0xffffffffu;
}

/* ---- functions of floats ---- */

namespace pycu2c { /* the C library reserves the name without the suffix */
static inline void sincosf_(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
} // namespace pycu2c
#define __sincosf ::pycu2c::sincosf_
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline float fdividef(float x, float y) { return x / y; }
#if !defined(__GLIBC__)
static inline void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
static inline void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
static inline float exp10f(float x) { return powf(10.0f, x); }
static inline double exp10(double x) { return pow(10.0, x); }
#endif

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0

/* ---- time ---- */

static inline long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
#endif
}
namespace pycu2c {
static inline long long ticks() { return clock64(); }
} // namespace pycu2c
#define clock() ((clock_t)::pycu2c::ticks())

/* ---- address spaces: one flat space on the CPU ---- */

static inline unsigned __isGlobal(const void *) { return 1; }
static inline size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }

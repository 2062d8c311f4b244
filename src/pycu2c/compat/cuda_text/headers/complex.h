/* cuComplex.h: complex numbers as vectors of two. */

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

#define PYCU2C_COMPLEX(C, R, f, m)                                                                  \
    static inline C make_##C(R x, R y) { return {x, y}; }                                           \
    static inline R cuCreal##f(C x) { return x.x; }                                                 \
    static inline R cuCimag##f(C x) { return x.y; }                                                 \
    static inline C cuConj##f(C x) { return {x.x, -x.y}; }                                          \
    static inline C cuCadd##f(C x, C y) { return {x.x + y.x, x.y + y.y}; }                          \
    static inline C cuCsub##f(C x, C y) { return {x.x - y.x, x.y - y.y}; }                          \
    static inline C cuCmul##f(C x, C y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; }  \
    static inline C cuCdiv##f(C x, C y) {                                                           \
        R scale = 1 / (fabs##m(y.x) + fabs##m(y.y)), a = x.x * scale, b = x.y * scale;              \
        R c = y.x * scale, d = y.y * scale, size = 1 / (c * c + d * d);                             \
        return {(a * c + b * d) * size, (b * c - a * d) * size};                                    \
    }                                                                                               \
    static inline R cuCabs##f(C x) { return hypot##m(x.x, x.y); }                                   \
    static inline C cuCfma##f(C x, C y, C d) {                                                      \
        return {x.x * y.x + d.x - x.y * y.y, x.x * y.y + x.y * y.x + d.y};                          \
    }
PYCU2C_COMPLEX(cuFloatComplex, float, f, f)
PYCU2C_COMPLEX(cuDoubleComplex, double, , )
#undef PYCU2C_COMPLEX

static inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {(float)x.x, (float)x.y}; }

// Textures and surfaces of doubles and complex numbers, which are stored as pairs of ints.
// fp_tex2D(t, x, y) and similar functions convert the texels back to numbers.
#ifndef PYCUDA_HELPERS_HPP
#define PYCUDA_HELPERS_HPP

#include <pycuda-complex.hpp>

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

namespace pycuda {

template <class T> __device__ __forceinline__ T from_texel(T bits) { return bits; }

__device__ __forceinline__ double from_texel(int2 bits) {
    return __hiloint2double(bits.y, bits.x);
}

__device__ __forceinline__ complex<float> from_texel(uint2 bits) {
    return complex<float>(__int_as_float((int)bits.x), __int_as_float((int)bits.y));
}

__device__ __forceinline__ complex<double> from_texel(int4 bits) {
    return complex<double>(__hiloint2double(bits.y, bits.x), __hiloint2double(bits.w, bits.z));
}

template <class T> __device__ __forceinline__ T to_texel(T value) { return value; }

__device__ __forceinline__ int2 to_texel(double value) {
    return make_int2(__double2loint(value), __double2hiint(value));
}

__device__ __forceinline__ uint2 to_texel(complex<float> value) {
    return make_uint2((unsigned)__float_as_int(value.real()),
                      (unsigned)__float_as_int(value.imag()));
}

__device__ __forceinline__ int4 to_texel(complex<double> value) {
    return make_int4(__double2loint(value.real()), __double2hiint(value.real()),
                     __double2loint(value.imag()), __double2hiint(value.imag()));
}

}  // namespace pycuda

// macros, because the result type depends on the element type of the texture
#define fp_tex1Dfetch(...) pycuda::from_texel(tex1Dfetch(__VA_ARGS__))
#define fp_tex1D(...) pycuda::from_texel(tex1D(__VA_ARGS__))
#define fp_tex2D(...) pycuda::from_texel(tex2D(__VA_ARGS__))
#define fp_tex3D(...) pycuda::from_texel(tex3D(__VA_ARGS__))
#define fp_tex1DLayered(...) pycuda::from_texel(tex1DLayered(__VA_ARGS__))
#define fp_tex2DLayered(...) pycuda::from_texel(tex2DLayered(__VA_ARGS__))

// x counts elements here; in CUDA's functions it counts bytes
#define PYCUDA_SURFACE(name, given, used)                                                      \
    template <class V, class S>                                                                \
    static __device__ __forceinline__ void fp_##name##write given {                            \
        const auto bits = pycuda::to_texel(value);                                             \
        const int at = x * (int)sizeof(bits);                                                  \
        name##write used;                                                                      \
    }
#define PYCUDA_SURFACE_READ(name, given, used)                                                 \
    template <class V, class S>                                                                \
    static __device__ __forceinline__ void fp_##name##read given {                             \
        auto bits = pycuda::to_texel(V());                                                     \
        const int at = x * (int)sizeof(bits);                                                  \
        name##read used;                                                                       \
        *value = pycuda::from_texel(bits);                                                     \
    }

PYCUDA_SURFACE(surf1D, (V value, const S &s, int x, cudaSurfaceBoundaryMode mode),
               (bits, s, at, mode))
PYCUDA_SURFACE(surf2D, (V value, const S &s, int x, int y, cudaSurfaceBoundaryMode mode),
               (bits, s, at, y, mode))
PYCUDA_SURFACE(surf3D, (V value, const S &s, int x, int y, int z, cudaSurfaceBoundaryMode mode),
               (bits, s, at, y, z, mode))
PYCUDA_SURFACE(surf2DLayered,
               (V value, const S &s, int x, int y, int layer, cudaSurfaceBoundaryMode mode),
               (bits, s, at, y, layer, mode))
PYCUDA_SURFACE_READ(surf1D, (V *value, const S &s, int x, cudaSurfaceBoundaryMode mode),
                    (&bits, s, at, mode))
PYCUDA_SURFACE_READ(surf2D, (V *value, const S &s, int x, int y, cudaSurfaceBoundaryMode mode),
                    (&bits, s, at, y, mode))
PYCUDA_SURFACE_READ(surf3D,
                    (V *value, const S &s, int x, int y, int z, cudaSurfaceBoundaryMode mode),
                    (&bits, s, at, y, z, mode))
PYCUDA_SURFACE_READ(surf2DLayered,
                    (V *value, const S &s, int x, int y, int layer, cudaSurfaceBoundaryMode mode),
                    (&bits, s, at, y, layer, mode))

}  // extern "C++"

#endif

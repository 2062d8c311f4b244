// Complex numbers for kernels: pycuda::complex<float>, pycuda::complex<double>.
#ifndef PYCUDA_COMPLEX_HPP
#define PYCUDA_COMPLEX_HPP

extern "C++" {

namespace pycuda {

template <class T> struct complex {
    typedef T value_type;
    T _M_re, _M_im;

    complex() = default;
    __host__ __device__ complex(T re, T im = T()) : _M_re(re), _M_im(im) {}
    template <class U>
    __host__ __device__ explicit complex(const complex<U> &z)
        : _M_re((T)z._M_re), _M_im((T)z._M_im) {}

    __host__ __device__ T real() const { return _M_re; }
    __host__ __device__ T imag() const { return _M_im; }

    __host__ __device__ complex &operator=(T re) {
        _M_re = re;
        _M_im = T();
        return *this;
    }
    __host__ __device__ complex &operator+=(const complex &z) { return *this = *this + z; }
    __host__ __device__ complex &operator-=(const complex &z) { return *this = *this - z; }
    __host__ __device__ complex &operator*=(const complex &z) { return *this = *this * z; }
    __host__ __device__ complex &operator/=(const complex &z) { return *this = *this / z; }

    // friends, so that a number of another type on either side is converted
    friend __host__ __device__ complex operator+(const complex &a, const complex &b) {
        return complex(a._M_re + b._M_re, a._M_im + b._M_im);
    }
    friend __host__ __device__ complex operator-(const complex &a, const complex &b) {
        return complex(a._M_re - b._M_re, a._M_im - b._M_im);
    }
    friend __host__ __device__ complex operator*(const complex &a, const complex &b) {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im,
                       a._M_re * b._M_im + a._M_im * b._M_re);
    }
    friend __host__ __device__ complex operator/(const complex &a, const complex &b) {
        return divide(a, b);
    }
    friend __host__ __device__ complex operator-(const complex &a) {
        return complex(-a._M_re, -a._M_im);
    }
    friend __host__ __device__ complex operator+(const complex &a) { return a; }
    friend __host__ __device__ bool operator==(const complex &a, const complex &b) {
        return a._M_re == b._M_re && a._M_im == b._M_im;
    }
    friend __host__ __device__ bool operator!=(const complex &a, const complex &b) {
        return !(a == b);
    }
};

template <class T> __host__ __device__ T real(const complex<T> &z) { return z._M_re; }
template <class T> __host__ __device__ T imag(const complex<T> &z) { return z._M_im; }
template <class T> __host__ __device__ complex<T> conj(const complex<T> &z) {
    return complex<T>(z._M_re, -z._M_im);
}
template <class T> __host__ __device__ T norm(const complex<T> &z) {
    return z._M_re * z._M_re + z._M_im * z._M_im;
}

// CUDA's functions of real numbers, beside those of complex numbers
using ::asinh; using ::atan2; using ::copysign; using ::cos; using ::cosh; using ::exp;
using ::fabs; using ::hypot; using ::log; using ::log1p; using ::sin; using ::sinh;
using ::sqrt; using ::tan;

template <class T> __device__ T arg(const complex<T> &z) { return atan2(z._M_im, z._M_re); }
template <class T> __device__ complex<T> polar(const T &size, const T &angle = T()) {
    return complex<T>(size * cos(angle), size * sin(angle));
}

#include "../../cuda_text/headers/complex_functions.h"

template <class T> __device__ complex<T> pow(const complex<T> &z, const T &n) {
    return pow(z, complex<T>(n));
}
template <class T> __device__ complex<T> pow(const T &z, const complex<T> &n) {
    return pow(complex<T>(z), n);
}
template <class T> __device__ complex<T> pow(const complex<T> &z, int n) {
    complex<T> found = complex<T>(T(1)), power = z;
    for (unsigned rest = n < 0 ? -(unsigned)n : (unsigned)n; rest; rest >>= 1) {
        if (rest & 1) found *= power;
        power *= power;
    }
    return n < 0 ? complex<T>(T(1)) / found : found;
}

}  // namespace pycuda

}  // extern "C++"

#endif

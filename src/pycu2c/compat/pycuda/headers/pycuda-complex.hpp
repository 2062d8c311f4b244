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
    // Smith's method: intermediate values overflow only if the quotient does
    friend __host__ __device__ complex operator/(const complex &a, const complex &b) {
        const T re = b._M_re < 0 ? -b._M_re : b._M_re, im = b._M_im < 0 ? -b._M_im : b._M_im;
        if (re >= im) {
            const T ratio = b._M_im / b._M_re, whole = b._M_re + b._M_im * ratio;
            return complex((a._M_re + a._M_im * ratio) / whole,
                           (a._M_im - a._M_re * ratio) / whole);
        }
        const T ratio = b._M_re / b._M_im, whole = b._M_re * ratio + b._M_im;
        return complex((a._M_re * ratio + a._M_im) / whole, (a._M_im * ratio - a._M_re) / whole);
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

// overloads for float and double
__device__ inline float abs(const complex<float> &z) { return hypotf(z._M_re, z._M_im); }
__device__ inline double abs(const complex<double> &z) { return hypot(z._M_re, z._M_im); }
__device__ inline float arg(const complex<float> &z) { return atan2f(z._M_im, z._M_re); }
__device__ inline double arg(const complex<double> &z) { return atan2(z._M_im, z._M_re); }

namespace parts {  // functions of real and imaginary parts
__device__ inline float sin(float x) { return sinf(x); }
__device__ inline double sin(double x) { return ::sin(x); }
__device__ inline float cos(float x) { return cosf(x); }
__device__ inline double cos(double x) { return ::cos(x); }
__device__ inline float sinh(float x) { return sinhf(x); }
__device__ inline double sinh(double x) { return ::sinh(x); }
__device__ inline float cosh(float x) { return coshf(x); }
__device__ inline double cosh(double x) { return ::cosh(x); }
__device__ inline float exp(float x) { return expf(x); }
__device__ inline double exp(double x) { return ::exp(x); }
__device__ inline float log(float x) { return logf(x); }
__device__ inline double log(double x) { return ::log(x); }
__device__ inline float sqrt(float x) { return sqrtf(x); }
__device__ inline double sqrt(double x) { return ::sqrt(x); }
}  // namespace parts

template <class T> __device__ complex<T> polar(const T &size, const T &angle = T()) {
    return complex<T>(size * parts::cos(angle), size * parts::sin(angle));
}
template <class T> __device__ complex<T> exp(const complex<T> &z) {
    return polar(parts::exp(z._M_re), z._M_im);
}
template <class T> __device__ complex<T> log(const complex<T> &z) {
    return complex<T>(parts::log(abs(z)), arg(z));
}
template <class T> __device__ complex<T> log10(const complex<T> &z) {
    return log(z) / complex<T>(parts::log(T(10)));
}
template <class T> __device__ complex<T> sin(const complex<T> &z) {
    return complex<T>(parts::sin(z._M_re) * parts::cosh(z._M_im),
                      parts::cos(z._M_re) * parts::sinh(z._M_im));
}
template <class T> __device__ complex<T> cos(const complex<T> &z) {
    return complex<T>(parts::cos(z._M_re) * parts::cosh(z._M_im),
                      -parts::sin(z._M_re) * parts::sinh(z._M_im));
}
template <class T> __device__ complex<T> tan(const complex<T> &z) { return sin(z) / cos(z); }
template <class T> __device__ complex<T> sinh(const complex<T> &z) {
    return complex<T>(parts::sinh(z._M_re) * parts::cos(z._M_im),
                      parts::cosh(z._M_re) * parts::sin(z._M_im));
}
template <class T> __device__ complex<T> cosh(const complex<T> &z) {
    return complex<T>(parts::cosh(z._M_re) * parts::cos(z._M_im),
                      parts::sinh(z._M_re) * parts::sin(z._M_im));
}
template <class T> __device__ complex<T> tanh(const complex<T> &z) { return sinh(z) / cosh(z); }
template <class T> __device__ complex<T> sqrt(const complex<T> &z) {
    const T size = abs(z);
    if (size == T()) return complex<T>(T(), z._M_im);
    const T re = z._M_re < 0 ? -z._M_re : z._M_re, half = parts::sqrt((size + re) / 2);
    const T other = (z._M_im < 0 ? -z._M_im : z._M_im) / (2 * half);
    const T x = z._M_re < 0 ? other : half, y = z._M_re < 0 ? half : other;
    return complex<T>(x, z._M_im < 0 ? -y : y);
}
template <class T> __device__ complex<T> pow(const complex<T> &z, const complex<T> &n) {
    if (z == complex<T>()) return complex<T>(n == complex<T>() ? T(1) : T());
    return exp(n * log(z));
}
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

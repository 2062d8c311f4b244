// Complex numbers, with the names that CuPy's operations use.
template <typename T> struct _is_number { enum { value = 0 }; };
template <> struct _is_number<bool> { enum { value = 1 }; };
template <> struct _is_number<signed char> { enum { value = 1 }; };
template <> struct _is_number<unsigned char> { enum { value = 1 }; };
template <> struct _is_number<short> { enum { value = 1 }; };
template <> struct _is_number<unsigned short> { enum { value = 1 }; };
template <> struct _is_number<int> { enum { value = 1 }; };
template <> struct _is_number<unsigned int> { enum { value = 1 }; };
template <> struct _is_number<long> { enum { value = 1 }; };
template <> struct _is_number<unsigned long> { enum { value = 1 }; };
template <> struct _is_number<long long> { enum { value = 1 }; };
template <> struct _is_number<unsigned long long> { enum { value = 1 }; };
template <> struct _is_number<float> { enum { value = 1 }; };
template <> struct _is_number<double> { enum { value = 1 }; };
template <bool, typename T> struct _where {};
template <typename T> struct _where<true, T> { typedef T type; };

template <typename T> struct _pair_of;
template <> struct _pair_of<float> { typedef float2 type; };
template <> struct _pair_of<double> { typedef double2 type; };

template <typename T>
struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    typedef typename _pair_of<T>::type pair;
    T _M_re, _M_im;

    __device__ complex(T re = T(), T im = T()) : _M_re(re), _M_im(im) {}
    __device__ complex(pair z) : _M_re(z.x), _M_im(z.y) {}
    template <typename U>
    __device__ complex(const complex<U> &z) : _M_re(T(z.real())), _M_im(T(z.imag())) {}
    __device__ operator pair() const {
        pair z;
        z.x = _M_re, z.y = _M_im;
        return z;
    }
    __device__ T real() const { return _M_re; }
    __device__ T imag() const { return _M_im; }
    __device__ void real(T value) { _M_re = value; }
    __device__ void imag(T value) { _M_im = value; }
    __device__ complex &operator+=(const complex &z) { return *this = *this + z; }
    __device__ complex &operator-=(const complex &z) { return *this = *this - z; }
    __device__ complex &operator*=(const complex &z) { return *this = *this * z; }
    __device__ complex &operator/=(const complex &z) { return *this = *this / z; }
};

#define _OF_TWO(op)                                                                              \
    template <typename T, typename U>                                                            \
    __device__ inline typename _where<_is_number<U>::value, complex<T> >::type                   \
    operator op(const complex<T> &a, const U &b) { return a op complex<T>(T(b)); }               \
    template <typename T, typename U>                                                            \
    __device__ inline typename _where<_is_number<U>::value, complex<T> >::type                   \
    operator op(const U &a, const complex<T> &b) { return complex<T>(T(a)) op b; }

template <typename T> __device__ inline complex<T> operator+(const complex<T> &z) { return z; }
template <typename T> __device__ inline complex<T> operator-(const complex<T> &z) {
    return complex<T>(-z.real(), -z.imag());
}
template <typename T>
__device__ inline complex<T> operator+(const complex<T> &a, const complex<T> &b) {
    return complex<T>(a.real() + b.real(), a.imag() + b.imag());
}
template <typename T>
__device__ inline complex<T> operator-(const complex<T> &a, const complex<T> &b) {
    return complex<T>(a.real() - b.real(), a.imag() - b.imag());
}
template <typename T>
__device__ inline complex<T> operator*(const complex<T> &a, const complex<T> &b) {
    return complex<T>(a.real() * b.real() - a.imag() * b.imag(),
                      a.real() * b.imag() + a.imag() * b.real());
}
template <typename T>
__device__ inline complex<T> operator/(const complex<T> &a, const complex<T> &b) {
    return divide(a, b);
}
_OF_TWO(+)
_OF_TWO(-)
_OF_TWO(*)
_OF_TWO(/)
#undef _OF_TWO
template <typename T>
__device__ inline bool operator==(const complex<T> &a, const complex<T> &b) {
    return a.real() == b.real() && a.imag() == b.imag();
}
template <typename T>
__device__ inline bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
template <typename T>
__device__ inline bool operator==(const complex<T> &a, const T &b) { return a == complex<T>(b); }
template <typename T>
__device__ inline bool operator!=(const complex<T> &a, const T &b) { return a != complex<T>(b); }
// The order of numpy: by the real part, then by the imaginary part.
template <typename T>
__device__ inline bool operator<(const complex<T> &a, const complex<T> &b) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
template <typename T>
__device__ inline bool operator>(const complex<T> &a, const complex<T> &b) { return b < a; }
template <typename T>
__device__ inline bool operator<=(const complex<T> &a, const complex<T> &b) {
    return a < b || a == b;
}
template <typename T>
__device__ inline bool operator>=(const complex<T> &a, const complex<T> &b) {
    return b < a || a == b;
}

template <typename T> __device__ inline T real(const complex<T> &z) { return z.real(); }
template <typename T> __device__ inline T imag(const complex<T> &z) { return z.imag(); }
template <typename T> __device__ inline T arg(const complex<T> &z) {
    return atan2(z.imag(), z.real());
}
template <typename T> __device__ inline T norm(const complex<T> &z) {
    return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T> __device__ inline complex<T> conj(const complex<T> &z) {
    return complex<T>(z.real(), -z.imag());
}
template <typename T> __device__ inline complex<T> polar(const T &r, const T &theta) {
    return complex<T>(r * cos(theta), r * sin(theta));
}
// A NaN is the result, as in numpy.
template <typename T> __device__ inline complex<T> max(const complex<T> &a, const complex<T> &b) {
    return isnan(a) ? a : isnan(b) || a < b ? b : a;
}
template <typename T> __device__ inline complex<T> min(const complex<T> &a, const complex<T> &b) {
    return isnan(a) ? a : isnan(b) || b < a ? b : a;
}
template <typename T> __device__ inline complex<T> proj(const complex<T> &z) {
    return isinf(z) ? complex<T>(abs(z), copysign(T(0), z.imag())) : z;
}

#include "../../cuda_text/headers/complex_functions.h"

template <typename T> __device__ inline complex<T> pow(const complex<T> &a, const T &b) {
    return pow(a, complex<T>(b));
}
template <typename T> __device__ inline complex<T> pow(const T &a, const complex<T> &b) {
    return pow(complex<T>(a), b);
}

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
    T _re, _im;

    __device__ complex(T re = T(), T im = T()) : _re(re), _im(im) {}
    __device__ complex(pair z) : _re(z.x), _im(z.y) {}
    template <typename U>
    __device__ complex(const complex<U> &z) : _re(T(z.real())), _im(T(z.imag())) {}
    __device__ operator pair() const {
        pair z;
        z.x = _re, z.y = _im;
        return z;
    }
    __device__ T real() const { return _re; }
    __device__ T imag() const { return _im; }
    __device__ void real(T value) { _re = value; }
    __device__ void imag(T value) { _im = value; }
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
// Smith's method: intermediate values overflow only if the quotient does.
template <typename T>
__device__ inline complex<T> operator/(const complex<T> &a, const complex<T> &b) {
    if (fabs(b.real()) >= fabs(b.imag())) {
        const T r = b.real() == 0 && b.imag() == 0 ? T(0) : b.imag() / b.real();
        const T d = b.real() + b.imag() * r;
        return complex<T>((a.real() + a.imag() * r) / d, (a.imag() - a.real() * r) / d);
    }
    const T r = b.real() / b.imag(), d = b.real() * r + b.imag();
    return complex<T>((a.real() * r + a.imag()) / d, (a.imag() * r - a.real()) / d);
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
template <typename T> __device__ inline T abs(const complex<T> &z) {
    return hypot(z.real(), z.imag());
}
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
template <typename T> __device__ inline bool isnan(const complex<T> &z) {
    return isnan(z.real()) || isnan(z.imag());
}
template <typename T> __device__ inline bool isinf(const complex<T> &z) {
    return isinf(z.real()) || isinf(z.imag());
}
template <typename T> __device__ inline bool isfinite(const complex<T> &z) {
    return isfinite(z.real()) && isfinite(z.imag());
}
template <typename T> __device__ inline complex<T> exp(const complex<T> &z) {
    return polar(T(exp(z.real())), z.imag());
}
template <typename T> __device__ inline complex<T> log(const complex<T> &z) {
    return complex<T>(log(abs(z)), arg(z));
}
template <typename T> __device__ inline complex<T> log10(const complex<T> &z) {
    return log(z) / T(2.302585092994045684);
}
template <typename T> __device__ inline complex<T> sqrt(const complex<T> &z) {
    if (z.real() == 0 && z.imag() == 0) return complex<T>(T(0), z.imag());
    const T half = sqrt((fabs(z.real()) + abs(z)) / 2);
    if (z.real() >= 0) return complex<T>(half, z.imag() / (2 * half));
    return complex<T>(fabs(z.imag()) / (2 * half), z.imag() < 0 ? -half : half);
}
template <typename T> __device__ inline complex<T> pow(const complex<T> &a, const complex<T> &b) {
    if (b == complex<T>()) return complex<T>(T(1));
    if (a == complex<T>()) return complex<T>();
    return exp(b * log(a));
}
template <typename T> __device__ inline complex<T> pow(const complex<T> &a, const T &b) {
    return pow(a, complex<T>(b));
}
template <typename T> __device__ inline complex<T> pow(const T &a, const complex<T> &b) {
    return pow(complex<T>(a), b);
}
template <typename T> __device__ inline complex<T> sin(const complex<T> &z) {
    return complex<T>(sin(z.real()) * cosh(z.imag()), cos(z.real()) * sinh(z.imag()));
}
template <typename T> __device__ inline complex<T> cos(const complex<T> &z) {
    return complex<T>(cos(z.real()) * cosh(z.imag()), -sin(z.real()) * sinh(z.imag()));
}
template <typename T> __device__ inline complex<T> tan(const complex<T> &z) {
    return sin(z) / cos(z);
}
template <typename T> __device__ inline complex<T> sinh(const complex<T> &z) {
    return complex<T>(sinh(z.real()) * cos(z.imag()), cosh(z.real()) * sin(z.imag()));
}
template <typename T> __device__ inline complex<T> cosh(const complex<T> &z) {
    return complex<T>(cosh(z.real()) * cos(z.imag()), sinh(z.real()) * sin(z.imag()));
}
template <typename T> __device__ inline complex<T> tanh(const complex<T> &z) {
    return sinh(z) / cosh(z);
}

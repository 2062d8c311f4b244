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

// functions: generated by docs/generate.py
// a * b
template <typename T> __device__ inline complex<T> multiply(complex<T> a, complex<T> b) {
    const complex<T> product = {a._re * b._re - a._im * b._im, a._re * b._im + a._im * b._re};
    return product;
}

// a / b by Smith's method: no overflow where the quotient has none.
template <typename T> __device__ inline complex<T> divide(complex<T> a, complex<T> b) {
    complex<T> quotient;
    if (b._re == 0 && b._im == 0) {
        quotient._re = a._re / fabs(b._re);
        quotient._im = a._im / fabs(b._re);
    } else if (fabs(b._re) >= fabs(b._im)) {
        const T ratio = b._im / b._re;
        const T scale = 1 / (b._re + b._im * ratio);
        quotient._re = (a._re + a._im * ratio) * scale;
        quotient._im = (a._im - a._re * ratio) * scale;
    } else {
        const T ratio = b._re / b._im;
        const T scale = 1 / (b._im + b._re * ratio);
        quotient._re = (a._re * ratio + a._im) * scale;
        quotient._im = (a._im * ratio - a._re) * scale;
    }
    return quotient;
}

// e to the power x
template <typename T> __device__ inline complex<T> exp(complex<T> x) {
    complex<T> power = {exp(x._re), x._im};
    if (x._im == 0) return power;
    if (x._im - x._im != 0 && x._re == x._re && x._re - x._re != 0) {  // infinite, without a direction
        power._im = x._re < 0 ? 0 : x._im - x._im;
        return power;
    }
    const bool overflows = power._re - power._re != 0;  // a part may still be finite
    const T scale = overflows ? exp(x._re / 2) : 1, length = overflows ? scale : power._re;
    power._re = length * cos(x._im) * scale;
    power._im = length * sin(x._im) * scale;
    return power;
}

// The natural logarithm.
template <typename T> __device__ inline complex<T> log(complex<T> x) {
    complex<T> logarithm = {0, atan2(x._im, x._re)};
    const bool is_wide = fabs(x._re) > fabs(x._im);
    const T a = fabs(is_wide ? x._re : x._im), b = fabs(is_wide ? x._im : x._re);
    if (a > (T)0.5 && a < (T)1.5) {  // the size may be near 1, and its logarithm near 0
        const T aa = a * a, bb = b * b, rest = fma(a, a, -aa) + fma(b, b, -bb);
        logarithm._re = log1p(aa - 1 + bb + rest) / 2;
    } else if (a > (T)1e37) {  // the size may overflow
        logarithm._re = log(hypot(a / 4, b / 4)) + (T)1.38629436111989061883;
    } else if (a < (T)1e-30) {  // the size may be subnormal
        const T scale = (T)1152921504606846976.0;  // 2**60
        logarithm._re = log(hypot(a * scale, b * scale)) - (T)41.58883083359671856503;
    } else {
        logarithm._re = log(hypot(a, b));
    }
    return logarithm;
}

// base ** exponent as numpy computes it: by products for small integer exponents.
template <typename T> __device__ inline complex<T> pow(complex<T> base, complex<T> exponent) {
    const complex<T> one = {1, 0};
    const int n = fabs(exponent._re) < 100 ? (int)exponent._re : 0;
    if (exponent._re == 0 && exponent._im == 0) return one;
    if (base._re == 0 && base._im == 0) {
        const T part = exponent._re > 0 ? 0 : base._re / base._re;  // 0 or NaN
        const complex<T> zero = {part, part};
        return zero;
    }
    if (exponent._im != 0 || exponent._re != n) {
        return exp(multiply(exponent, log(base)));
    }
    if (n == 1) return base;
    complex<T> square = base, result = one;
    if (n == 2) return multiply(base, base);
    if (n == 3) return multiply(base, multiply(base, base));
    for (int rest = n < 0 ? -n : n; rest != 0; rest >>= 1) {
        if (rest & 1) result = multiply(result, square);
        if (rest > 1) square = multiply(square, square);
    }
    return n < 0 ? divide(one, result) : result;
}

// The logarithm to the base 10.
template <typename T> __device__ inline complex<T> log10(complex<T> x) {
    const T ratio = (T)0.43429448190325182765;
    const complex<T> natural = log(x), logarithm = {natural._re * ratio, natural._im * ratio};
    return logarithm;
}

// The square root in the right half of the plane.
template <typename T> __device__ inline complex<T> sqrt(complex<T> x) {
    complex<T> root = {fabs(x._im), x._im};
    if (x._im - x._im != 0 && x._im == x._im) return root;  // infinite
    root._re = 0;
    if (x._re == 0 && x._im == 0) return root;
    T scale = 1, a = fabs(x._re), b = fabs(x._im);
    if (a > (T)1e37 || b > (T)1e37) {  // the size may overflow
        a /= 16;
        b /= 16;
        scale = 4;
    } else if (a < (T)1e-30 && b < (T)1e-30) {  // the size may be subnormal
        a *= (T)1152921504606846976.0;           // 2**60
        b *= (T)1152921504606846976.0;
        scale = (T)9.31322574615478515625e-10;  // 2**-30
    }
    const T half = sqrt((a + hypot(a, b)) / 2), other = b / (2 * half);
    root._re = scale * (x._re >= 0 ? half : other);
    root._im = copysign(scale * (x._re >= 0 ? other : half), x._im);
    return root;
}

// The hyperbolic sine.
template <typename T> __device__ inline complex<T> sinh(complex<T> x) {
    if (fabs(x._re) > 40) {  // exp(|x|) / 2, which may overflow where the result does not
        const complex<T> power = {fabs(x._re) - 1, x._im}, far = exp(power);
        const T ratio = (T)1.35914091422952261768;  // e / 2
        const complex<T> sine = {copysign(ratio, x._re) * far._re, ratio * far._im};
        return sine;
    }
    const bool is_zero = x._re == 0 && x._im - x._im != 0;  // in any direction
    const complex<T> sine = {is_zero ? x._re : sinh(x._re) * cos(x._im),
                     x._im == 0 ? x._im : cosh(x._re) * sin(x._im)};
    return sine;
}

// The hyperbolic cosine.
template <typename T> __device__ inline complex<T> cosh(complex<T> x) {
    if (fabs(x._re) > 40) {  // exp(|x|) / 2, which may overflow where the result does not
        const complex<T> power = {fabs(x._re) - 1, x._im}, far = exp(power);
        const T ratio = (T)1.35914091422952261768;  // e / 2
        const complex<T> cosine = {ratio * far._re, copysign(ratio, x._re) * far._im};
        return cosine;
    }
    complex<T> cosine = {cosh(x._re) * cos(x._im), sinh(x._re) * sin(x._im)};
    if (x._re == 0 && x._im - x._im != 0) cosine._im = x._re;  // 0 in any direction
    if (x._im == 0) cosine._im = copysign((T)1, x._re) * x._im;
    return cosine;
}

// The hyperbolic tangent.
template <typename T> __device__ inline complex<T> tanh(complex<T> x) {
    if (fabs(x._re) > 20) {
        const T rest = 4 * sin(x._im) * cos(x._im) * exp(-2 * fabs(x._re));
        complex<T> far = {copysign((T)1, x._re), rest};
        if (rest != rest && x._re - x._re != 0) far._im = 0;  // infinite, without a direction
        if (rest != rest && x._re - x._re == 0) far._re = rest;
        return far;
    }
    const T t = tan(x._im), s = sinh(x._re);
    const T beta = 1 + t * t, divisor = 1 + beta * s * s;
    const complex<T> tangent = {x._re == 0 ? x._re : beta * sqrt(1 + s * s) * s / divisor,
                        x._im == 0 ? x._im : t / divisor};
    return tangent;
}

// The sine.
template <typename T> __device__ inline complex<T> sin(complex<T> x) {
    const complex<T> swapped = {x._im, x._re}, hyperbolic = sinh(swapped);
    const complex<T> sine = {hyperbolic._im, hyperbolic._re};
    return sine;
}

// The cosine.
template <typename T> __device__ inline complex<T> cos(complex<T> x) {
    const complex<T> turned = {-x._im, x._re};
    return cosh(turned);
}

// The tangent.
template <typename T> __device__ inline complex<T> tan(complex<T> x) {
    const complex<T> swapped = {x._im, x._re}, hyperbolic = tanh(swapped);
    const complex<T> tangent = {hyperbolic._im, hyperbolic._re};
    return tangent;
}

// The arc sine.
template <typename T> __device__ inline complex<T> asin(complex<T> x) {
    if (fabs(x._re) > (T)1e10 || fabs(x._im) > (T)1e10) {  // a square may overflow
        const T length = log(x)._re + (T)0.69314718055994530942;
        const complex<T> far = {atan2(x._re, fabs(x._im)), copysign(length, x._im)};
        return far;
    }
    const complex<T> below = {1 - x._re, -x._im}, above = {1 + x._re, x._im};
    const complex<T> a = sqrt(below), b = sqrt(above);
    const complex<T> arc = {x._re == 0 ? x._re : atan2(x._re, a._re * b._re - a._im * b._im),
                    asinh(a._re * b._im - a._im * b._re)};
    return arc;
}

// The arc cosine.
template <typename T> __device__ inline complex<T> acos(complex<T> x) {
    if (fabs(x._re) > (T)1e10 || fabs(x._im) > (T)1e10) {  // a square may overflow
        const T length = log(x)._re + (T)0.69314718055994530942;
        const complex<T> far = {atan2(fabs(x._im), x._re), -copysign(length, x._im)};
        return far;
    }
    const complex<T> below = {1 - x._re, -x._im}, above = {1 + x._re, x._im};
    const complex<T> a = sqrt(below), b = sqrt(above);
    const complex<T> arc = {x._re == 0 ? (T)1.57079632679489661923 : 2 * atan2(a._re, b._re),
                    asinh(b._re * a._im - b._im * a._re)};
    return arc;
}

// The inverse hyperbolic tangent.
template <typename T> __device__ inline complex<T> atanh(complex<T> x) {
    const T size = fabs(x._re), rest = 1 - size;
    if (size > (T)1e17 || fabs(x._im) > (T)1e17) {  // a square may overflow
        const T half = hypot(x._re / 2, x._im / 2);
        const T length = half == half && half - half != 0 ? 0 : size / half / half / 4;
        complex<T> far = {copysign(length, x._re), copysign((T)1.57079632679489661923, x._im)};
        if (far._re != far._re || x._im != x._im) far._im = x._re - x._im;  // NaN
        return far;
    }
    const T angle = atan2(2 * x._im, rest * (1 + size) - x._im * x._im) / 2;
    T length = log1p(4 * size / (rest * rest + x._im * x._im)) / 4;
    if (size == 0) length = 0;
    if (rest == 0 && fabs(x._im) < (T)1e-10) {  // a square may underflow
        length = ((T)0.69314718055994530942 - log(fabs(x._im))) / 2;
    }
    const complex<T> area = {copysign(length, x._re), angle};
    return area;
}

// The inverse hyperbolic sine.
template <typename T> __device__ inline complex<T> asinh(complex<T> x) {
    const complex<T> swapped = {x._im, x._re}, arc = asin(swapped);
    const complex<T> area = {arc._im, arc._re};
    return area;
}

// The inverse hyperbolic cosine: the arc cosine, turned to the right half of the plane.
template <typename T> __device__ inline complex<T> acosh(complex<T> x) {
    const complex<T> arc = acos(x);
    const complex<T> area = {fabs(arc._im), copysign(arc._re, x._im)};
    return area;
}

// The arc tangent.
template <typename T> __device__ inline complex<T> atan(complex<T> x) {
    const complex<T> swapped = {x._im, x._re}, area = atanh(swapped);
    const complex<T> arc = {area._im, area._re};
    return arc;
}

// Whether a part is NaN.
template <typename T> __device__ inline bool isnan(complex<T> x) {
    return x._re != x._re || x._im != x._im;
}

// Whether a part is infinite.
template <typename T> __device__ inline bool isinf(complex<T> x) {
    return (x._re == x._re && x._re - x._re != 0) || (x._im == x._im && x._im - x._im != 0);
}

// Whether both parts are finite.
template <typename T> __device__ inline bool isfinite(complex<T> x) {
    return x._re - x._re == 0 && x._im - x._im == 0;
}

// The distance from 0.
template <typename T> __device__ inline T abs(complex<T> x) {
    return hypot(x._re, x._im);
}
// end of functions

template <typename T> __device__ inline complex<T> pow(const complex<T> &a, const T &b) {
    return pow(a, complex<T>(b));
}
template <typename T> __device__ inline complex<T> pow(const T &a, const complex<T> &b) {
    return pow(complex<T>(a), b);
}

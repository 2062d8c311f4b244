// CUDA's special functions that C's library does not have. Those for float32 compute in double.

// ==== floating

// 1 / sqrt(x)
$q $T rsqrt_$t($T x) {
    return 1 / sqrt$f(x);
}

// 1 / cbrt(x)
$q $T rcbrt_$t($T x) {
    return ($T)(1 / cbrt((double)x));
}

// 10 to the power x.
$q $T exp10_$t($T x) {
    return pow$f(($T)10, x);
}

// x clamped to 0 and 1; 0 for NaN.
$q $T saturate_$t($T x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

// The cumulative normal distribution; the rounding error of x / sqrt(2) is corrected.
$q $T normcdf_$t($T x) {
    const double at = -0.7071067811865476 * x;
    const double rest = fma(-0.7071067811865476, (double)x, -at) + 4.833646656726457e-17 * x;
    const double value = erfc(at) / 2;
    return ($T)(fabs(at) < 40 ? value - rest * exp(-at * at) * 0.5641895835477563 : value);
}

// exp(x * x) * erfc(x) without overflow.
$q $T erfcx_$t($T x) {
    const double wide = x, square = wide * wide;
    if (x < -27) return INFINITY;
    if (x < 25) return ($T)(exp(square) * (1 + fma(wide, wide, -square)) * erfc(wide));
    const double part = 1 / square;
    const double sum = 1 - part / 2 * (1 - part * 1.5 * (1 - part * 2.5 * (1 - part * 3.5)));
    return ($T)(0.5641895835477563 / wide * sum);
}

// The Bessel function J of order 0.
$q $T j0_$t($T x) {
    return ($T)j0((double)x);
}

// The Bessel function J of order 1.
$q $T j1_$t($T x) {
    return ($T)j1((double)x);
}

// The Bessel function Y of order 0.
$q $T y0_$t($T x) {
    return ($T)y0((double)x);
}

// The Bessel function Y of order 1.
$q $T y1_$t($T x) {
    return ($T)y1((double)x);
}

// The Bessel function J of order n; NaN for a negative n.
$q $T jn_$t(long long n, $T x) {
    if (n < 0) return sqrt$f(($T)-1);
    if (fabs$f(x) < ($T)1e-8) return pow$f(x / 2, ($T)n) / tgamma$f(($T)n + 1);
    return jn$f(n > 2147483647 ? 2147483647 : (int)n, x);
}

// The Bessel function Y of order n; NaN for a negative n.
$q $T yn_$t(long long n, $T x) {
    if (n < 0) return sqrt$f(($T)-1);
    if (x == 0) return -1 / fabs$f(x);
    return yn$f(n > 2147483647 ? 2147483647 : (int)n, x);
}

// x to an integer power.
$q $T powi_$t($T x, long long n) {
    return pow$f(x, ($T)n);
}

// The binary exponent of x; INT_MIN for 0 and NaN, INT_MAX for infinity.
$q int ilogb_$t($T x) {
    return x == 0 || x != x ? -2147483647 - 1 : isinf(x) ? 2147483647 : ilogb$f(x);
}

// The fractional part, with the sign of x.
$q $T fraction_$t($T x) {
    return copysign$f(isinf(x) ? 0 : x - trunc$f(x), x);
}

// The mantissa of frexp.
$q $T mantissa_$t($T x) {
    int exponent;
    return frexp$f(x, &exponent);
}

// The exponent of frexp.
$q long long exponent_$t($T x) {
    int exponent = 0;
    if (x - x == 0) frexp$f(x, &exponent);
    return exponent;
}

// The lowest 3 bits of a / b, rounded to an integer, with its sign.
$q long long quotient_$t($T a, $T b) {
    int quotient = 0;
    if (a - a == 0 && b - b == 0 && b != 0) remquo$f(a, b, &quotient);
    return quotient < 0 ? -(-quotient & 7) : quotient & 7;
}

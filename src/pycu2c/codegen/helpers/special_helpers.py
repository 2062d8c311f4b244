"""Helpers for CUDA's special functions that C's library does not have.

The functions for float32 compute in double.
"""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper, floating_helpers

_FUNCTIONS = """
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
"""

# arithmetic only, so that compilers vectorize it: pi * t minus the other terms of the sine series,
# for the distance t to the nearest integer
_SINE_SERIES = """\
    const double z = t * t;
    double sum = -1.0518471716932065e-11;
    sum = sum * z + 5.392664662608129e-10;
    sum = sum * z - 2.2948428997269873e-08;
    sum = sum * z + 7.952054001475513e-07;
    sum = sum * z - 2.1915353447830217e-05;
    sum = sum * z + 0.00046630280576761255;
    sum = sum * z - 0.0073704309457143504;
    sum = sum * z + 0.08214588661112823;
    sum = sum * z - 0.5992645293207921;
    sum = sum * z + 2.5501640398773455;
    sum = sum * z - 5.16771278004997;
    return ($T)((odd != 0 ? -1.0 : 1.0) * (3.141592653589793 * t + t * (z * sum)));
"""

# Halley's method from a start with 3 correct digits
_INVERSE_ERF = """\
    double root = size < 0.1 ? size * (0.886226925452758 + 0.232013666534654 * size * size) : 0;
    if (size >= 0.1) {
        const double t = sqrt(-2 * log(rest / 2));
        const double above = 2.515517 + t * (0.802853 + t * 0.010328);
        const double below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
        root = (t - above / below) / 1.4142135623730951;
    }
    for (int i = 0; i < 3; ++i) {
        const double off = size < 0.5 ? erf(root) - size : rest - erfc(root);
        const double rise = exp(root * root / 2);
        const double step = off * rise * 0.886226925452758 * rise;
        root -= step / (1 + root * step);
    }
"""
_ERFCINV = f"""\
    if (!(q > 0 && q < 2)) return q == 0 ? at_0 : q == 2 ? -at_0 : NAN;
    const double rest = q < 1 ? q : 2 - q, size = 1 - rest;
{_INVERSE_ERF}"""

_FUNCTIONS_WITH_SERIES = """
// The sine of pi * x.
$q $T sinpi_$t($T x) {
    const double whole = rint((double)x), odd = whole - 2 * floor(whole / 2);
    const double t = x - whole;
@SERIES}

// The cosine of pi * x.
$q $T cospi_$t($T x) {
    const double whole = rint((double)x), odd = whole - 2 * floor(whole / 2);
    const double t = 0.5 - fabs(x - whole);
@SERIES}

// The inverse of erf.
$q $T erfinv_$t($T x) {
    if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * INFINITY : NAN;
    const double size = fabs((double)x), rest = 1 - size;
@INVERSE    return ($T)copysign(root, (double)x);
}

// The inverse of erfc.
$q $T erfcinv_$t($T x) {
    const double q = x, at_0 = INFINITY;
@ERFCINV    return ($T)(q < 1 ? root : -root);
}

// The inverse of normcdf.
$q $T normcdfinv_$t($T x) {
    const double q = 2 * (double)x, at_0 = -INFINITY;
@ERFCINV    return ($T)(1.4142135623730951 * (q < 1 ? -root : root));
}
"""
for _marker, _lines in (
    ("@SERIES", _SINE_SERIES),
    ("@INVERSE", _INVERSE_ERF),
    ("@ERFCINV", _ERFCINV),
):
    _FUNCTIONS_WITH_SERIES = _FUNCTIONS_WITH_SERIES.replace(_marker, _lines)


def _modified_bessel(order: int) -> str:
    """Return a modified Bessel function: a power series, and from 30 on a series in 1 / x."""
    factor, opening = ("1", "") if order == 0 else ("half", "copysign(")
    closing = ", (double)x)" if order else ""
    return f"""
// The modified Bessel function of the first kind, order {order}.
$q $T cyl_bessel_i{order}_$t($T x) {{
    const double size = fabs((double)x), half = size / 2;
    double term = 1, sum = 1;
    if (size < 30) {{
        for (int k = 1; term > sum * 1e-17; ++k) {{
            term *= half / k * (half / (k + {order}));
            sum += term;
        }}
        return ($T){opening}sum * {factor}{closing};
    }}
    if (size > 720) return ($T){opening}INFINITY{closing};
    for (int k = 1; k < 30 && fabs(term) > 1e-17; ++k) {{
        const double odd = 2 * k - 1;
        term *= -({4 * order * order} - odd * odd) / (8 * k * size);
        sum += term;
    }}
    const double rise = exp(half);
    return ($T){opening}rise / sqrt(6.283185307179586 * size) * sum * rise{closing};
}}
"""


def _norm(name: str, count: int, root: str) -> Helper:
    """Return a norm of ``count`` numbers, or its reciprocal.

    Squares of floats are exact in double; doubles are scaled to avoid overflow.
    """
    names = "abcd"[:count]
    parameters = ", ".join(f"$T {n}" for n in names)
    reciprocal = "1 / " if name.startswith("r") else ""
    is_infinite = " | ".join(f"(fabs$f({n}) == INFINITY)" for n in names)
    sum_in_double = " + ".join(f"(double){n} * {n}" for n in names)
    update_great = "".join(f"    great = fabs({n}) > great ? fabs({n}) : great;\n" for n in names)
    scaled_sum = " + ".join(f"({n} * up) * ({n} * up)" for n in names)
    return Helper(
        floating=f"""
// {root}
$q $T {name}_$t({parameters}) {{
    const double sum = {sum_in_double};
    return ($T)({reciprocal}sqrt({is_infinite} ? INFINITY : sum));
}}
""",
        wide=f"""
// {root}, without overflow.
$q $T {name}_$t({parameters}) {{
    $T great = 0;
{update_great}    const $T up = great > 0x1p510 ? 0x1p-600 : great < 0x1p-459 ? 0x1p600 : 1.0;
    const $T sum = {scaled_sum};
    return {reciprocal}(sqrt({is_infinite} ? INFINITY : sum) / up);
}}
""",
    )


SPECIAL_HELPERS: dict[str, Helper] = {
    **floating_helpers(_FUNCTIONS),
    **floating_helpers(_FUNCTIONS_WITH_SERIES),
    **floating_helpers(f"{_modified_bessel(0)}{_modified_bessel(1)}"),
    "rhypot": _norm("rhypot", 2, "1 / sqrt(a * a + b * b)"),
    "norm3d": _norm("norm3d", 3, "sqrt(a * a + b * b + c * c)"),
    "norm4d": _norm("norm4d", 4, "sqrt(a * a + b * b + c * c + d * d)"),
    "rnorm3d": _norm("rnorm3d", 3, "1 / sqrt(a * a + b * b + c * c)"),
    "rnorm4d": _norm("rnorm4d", 4, "1 / sqrt(a * a + b * b + c * c + d * d)"),
}

"""Helpers for complex numbers, which are structs with the members x and y.

The tangents and the inverse functions use W. Kahan's formulas: no intermediate result overflows,
and the sign of a zero selects the side of a branch cut.
"""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper, templates_by_name

COMPLEX_TEMPLATES = templates_by_name("""
// a + b
$q $T add_$t($T a, $T b) {
    const $T sum = {a.x + b.x, a.y + b.y};
    return sum;
}

// a - b
$q $T sub_$t($T a, $T b) {
    const $T difference = {a.x - b.x, a.y - b.y};
    return difference;
}

// a * b
$q $T mul_$t($T a, $T b) {
    const $T product = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    return product;
}

// a / b by Smith's method: no overflow where the quotient has none.
$q $T div_$t($T a, $T b) {
    $T quotient;
    if (b.x == 0 && b.y == 0) {
        quotient.x = a.x / fabs$f(b.x);
        quotient.y = a.y / fabs$f(b.x);
    } else if (fabs$f(b.x) >= fabs$f(b.y)) {
        const $R ratio = b.y / b.x;
        const $R scale = 1 / (b.x + b.y * ratio);
        quotient.x = (a.x + a.y * ratio) * scale;
        quotient.y = (a.y - a.x * ratio) * scale;
    } else {
        const $R ratio = b.x / b.y;
        const $R scale = 1 / (b.y + b.x * ratio);
        quotient.x = (a.x * ratio + a.y) * scale;
        quotient.y = (a.y * ratio - a.x) * scale;
    }
    return quotient;
}

// -x
$q $T neg_$t($T x) {
    const $T negated = {-x.x, -x.y};
    return negated;
}

// a == b
$q bool eq_$t($T a, $T b) {
    return a.x == b.x && a.y == b.y;
}

// base ** exponent: by multiplication for small integer exponents, as numpy, else by logarithms.
$q $T pow_$t($T base, $T exponent) {
    const int n = fabs$f(exponent.x) < 100 ? (int)exponent.x : 0;
    $T result = {1, 0}, square = base;
    if (exponent.x == 0 && exponent.y == 0) return result;
    if (exponent.y == 0 && exponent.x == n) {
        for (int rest = n < 0 ? -n : n; rest != 0; rest >>= 1) {
            const $T product = {result.x * square.x - result.y * square.y,
                                result.x * square.y + result.y * square.x};
            const $T next = {square.x * square.x - square.y * square.y,
                             2 * (square.x * square.y)};
            if (rest & 1) result = product;
            square = next;
        }
        if (n > 0) return result;
        const $R norm = result.x * result.x + result.y * result.y;
        const $T inverse = {result.x / norm, -result.y / norm};
        return inverse;
    }
    const $R size = hypot$f(base.x, base.y);
    if (size == 0) {
        const $T zero = {0, 0};
        return zero;
    }
    const $R logarithm = log$f(size), turn = atan2$f(base.y, base.x);
    const $R length = exp$f(exponent.x * logarithm - exponent.y * turn);
    const $R angle = exponent.y * logarithm + exponent.x * turn;
    result.x = length * cos$f(angle);
    result.y = length * sin$f(angle);
    return result;
}

// x with its imaginary part negated
$q $T complex_conjugate_$t($T x) {
    const $T conjugate = {x.x, -x.y};
    return conjugate;
}

// e to the power x
$q $T complex_exp_$t($T x) {
    const $R length = exp$f(x.x);
    const $T power = {length * cos$f(x.y), x.y == 0 ? x.y : length * sin$f(x.y)};
    return power;
}

// The natural logarithm.
$q $T complex_log_$t($T x) {
    $T logarithm = {0, atan2$f(x.y, x.x)};
    const $R a = fmax$f(fabs$f(x.x), fabs$f(x.y)), b = fmin$f(fabs$f(x.x), fabs$f(x.y));
    if (a > ($R)0.5 && a < ($R)1.5) {  // the size may be near 1, and its logarithm near 0
        logarithm.x = log1p$f((a - 1) * (a + 1) + b * b) / 2;
    } else {
        logarithm.x = log$f(hypot$f(x.x, x.y));
    }
    return logarithm;
}

// The square root in the right half of the plane.
$q $T complex_sqrt_$t($T x) {
    $T root = {0, x.y};
    if (x.x == 0 && x.y == 0) return root;
    const $R half = sqrt$f((fabs$f(x.x) + hypot$f(x.x, x.y)) / 2);
    root.x = x.x >= 0 ? half : fabs$f(x.y) / (2 * half);
    root.y = x.x >= 0 ? x.y / (2 * half) : copysign$f(half, x.y);
    return root;
}

// The sine.
$q $T complex_sin_$t($T x) {
    const $T sine = {sin$f(x.x) * cosh$f(x.y), cos$f(x.x) * sinh$f(x.y)};
    return sine;
}

// The cosine.
$q $T complex_cos_$t($T x) {
    const $T cosine = {cos$f(x.x) * cosh$f(x.y), -(sin$f(x.x) * sinh$f(x.y))};
    return cosine;
}

// The hyperbolic sine.
$q $T complex_sinh_$t($T x) {
    const $T sine = {sinh$f(x.x) * cos$f(x.y), cosh$f(x.x) * sin$f(x.y)};
    return sine;
}

// The hyperbolic cosine.
$q $T complex_cosh_$t($T x) {
    const $T cosine = {cosh$f(x.x) * cos$f(x.y), sinh$f(x.x) * sin$f(x.y)};
    return cosine;
}

// The hyperbolic tangent.
$q $T complex_tanh_$t($T x) {
    if (fabs$f(x.x) > 20) {
        const $R rest = 4 * sin$f(x.y) * cos$f(x.y) * exp$f(-2 * fabs$f(x.x));
        const $T far = {copysign$f(($R)1, x.x), rest};
        return far;
    }
    const $R t = tan$f(x.y), s = sinh$f(x.x);
    const $R beta = 1 + t * t, divisor = 1 + beta * s * s;
    const $T tangent = {beta * sqrt$f(1 + s * s) * s / divisor, t / divisor};
    return tangent;
}

// The tangent.
$q $T complex_tan_$t($T x) {
    if (fabs$f(x.y) > 20) {
        const $R rest = 4 * sin$f(x.x) * cos$f(x.x) * exp$f(-2 * fabs$f(x.y));
        const $T far = {rest, copysign$f(($R)1, x.y)};
        return far;
    }
    const $R t = tan$f(x.x), s = sinh$f(x.y);
    const $R beta = 1 + t * t, divisor = 1 + beta * s * s;
    const $T tangent = {t / divisor, beta * sqrt$f(1 + s * s) * s / divisor};
    return tangent;
}

// The logarithm to the base 10.
$q $T complex_log10_$t($T x) {
    const $R ratio = ($R)0.43429448190325182765;
    const $T logarithm = {log10$f(hypot$f(x.x, x.y)), atan2$f(x.y, x.x) * ratio};
    return logarithm;
}

// The logarithm to a base.
$q $T complex_log_base_$t($T x, $T base) {
    return div_$t(complex_log_$t(x), complex_log_$t(base));
}

// Whether a part is NaN.
$q bool complex_isnan_$t($T x) {
    return x.x != x.x || x.y != x.y;
}

// Whether a part is infinite.
$q bool complex_isinf_$t($T x) {
    return (x.x == x.x && x.x - x.x != 0) || (x.y == x.y && x.y - x.y != 0);
}

// Whether both parts are finite.
$q bool complex_isfinite_$t($T x) {
    return x.x - x.x == 0 && x.y - x.y == 0;
}

// The distance from 0.
$q $R complex_abs_$t($T x) {
    return hypot$f(x.x, x.y);
}

// The angle with the positive axis, in radians.
$q $R complex_angle_$t($T x) {
    return atan2$f(x.y, x.x);
}

// The arc sine.
$q $T complex_asin_$t($T x) {
    const $T below = {1 - x.x, -x.y}, above = {1 + x.x, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T arc = {atan2$f(x.x, a.x * b.x - a.y * b.y), asinh$f(a.x * b.y - a.y * b.x)};
    return arc;
}

// The arc cosine.
$q $T complex_acos_$t($T x) {
    const $T below = {1 - x.x, -x.y}, above = {1 + x.x, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T arc = {2 * atan2$f(a.x, b.x), asinh$f(b.x * a.y - b.y * a.x)};
    return arc;
}

// The inverse hyperbolic cosine.
$q $T complex_acosh_$t($T x) {
    const $T below = {x.x - 1, x.y}, above = {x.x + 1, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T area = {asinh$f(a.x * b.x + a.y * b.y), 2 * atan2$f(a.y, b.x)};
    return area;
}

// The inverse hyperbolic sine.
$q $T complex_asinh_$t($T x) {
    const $T turned = {-x.y, x.x}, arc = complex_asin_$t(turned);
    const $T area = {arc.y, -arc.x};
    return area;
}

// The inverse hyperbolic tangent.
$q $T complex_atanh_$t($T x) {
    const $R size = fabs$f(x.x), rest = 1 - size;
    const $R length = log1p$f(4 * size / (rest * rest + x.y * x.y)) / 4;
    const $R angle = atan2$f(2 * x.y, rest * (1 + size) - x.y * x.y) / 2;
    const $T area = {copysign$f(length, x.x), angle};
    return area;
}

// The arc tangent.
$q $T complex_atan_$t($T x) {
    const $T turned = {-x.y, x.x}, area = complex_atanh_$t(turned);
    const $T arc = {area.y, -area.x};
    return arc;
}
""")

_CALLS = {
    **dict.fromkeys(("complex_asin", "complex_acos", "complex_acosh"), ("complex_sqrt",)),
    "complex_asinh": ("complex_sqrt", "complex_asin"),
    "complex_atan": ("complex_atanh",),
    "complex_log_base": ("div", "complex_log"),
}
# only the callees: helpers for other types may have the same names
COMPLEX_HELPERS = {name: Helper(calls=_CALLS.get(name, ())) for name in COMPLEX_TEMPLATES}

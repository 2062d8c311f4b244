// Complex numbers, which are structs with the members x and y.
// The values at zeros, infinities and NaNs are those of C99's Annex G. The tangents and the inverse
// functions use W. Kahan's formulas: no intermediate result overflows, and the sign of a zero
// selects the side of a branch cut.

// ==== complex

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

// x with its imaginary part negated
$q $T complex_conjugate_$t($T x) {
    const $T conjugate = {x.x, -x.y};
    return conjugate;
}

// e to the power x
$q $T complex_exp_$t($T x) {
    $T power = {exp$f(x.x), x.y};
    if (x.y == 0) return power;
    if (x.y - x.y != 0 && x.x == x.x && x.x - x.x != 0) {  // infinite, without a direction
        power.y = x.x < 0 ? 0 : x.y - x.y;
        return power;
    }
    const bool overflows = power.x - power.x != 0;  // a part may still be finite
    const $R scale = overflows ? exp$f(x.x / 2) : 1, length = overflows ? scale : power.x;
    power.x = length * cos$f(x.y) * scale;
    power.y = length * sin$f(x.y) * scale;
    return power;
}

// The natural logarithm.
$q $T complex_log_$t($T x) {
    $T logarithm = {0, atan2$f(x.y, x.x)};
    const bool is_wide = fabs$f(x.x) > fabs$f(x.y);
    const $R a = fabs$f(is_wide ? x.x : x.y), b = fabs$f(is_wide ? x.y : x.x);
    if (a > ($R)0.5 && a < ($R)1.5) {  // the size may be near 1, and its logarithm near 0
        const $R aa = a * a, bb = b * b, rest = fma$f(a, a, -aa) + fma$f(b, b, -bb);
        logarithm.x = log1p$f(aa - 1 + bb + rest) / 2;
    } else if (a > ($R)1e37) {  // the size may overflow
        logarithm.x = log$f(hypot$f(a / 4, b / 4)) + ($R)1.38629436111989061883;
    } else if (a < ($R)1e-30) {  // the size may be subnormal
        const $R scale = ($R)1152921504606846976.0;  // 2**60
        logarithm.x = log$f(hypot$f(a * scale, b * scale)) - ($R)41.58883083359671856503;
    } else {
        logarithm.x = log$f(hypot$f(a, b));
    }
    return logarithm;
}

// base ** exponent as numpy computes it: by products for small integer exponents.
$q $T complex_power_$t($T base, $T exponent) {
    const $T one = {1, 0};
    const int n = fabs$f(exponent.x) < 100 ? (int)exponent.x : 0;
    if (exponent.x == 0 && exponent.y == 0) return one;
    if (base.x == 0 && base.y == 0) {
        const $R part = exponent.x > 0 ? 0 : base.x / base.x;  // 0 or NaN
        const $T zero = {part, part};
        return zero;
    }
    if (exponent.y != 0 || exponent.x != n) {
        return complex_exp_$t(mul_$t(exponent, complex_log_$t(base)));
    }
    if (n == 1) return base;
    $T square = base, result = one;
    if (n == 2) return mul_$t(base, base);
    if (n == 3) return mul_$t(base, mul_$t(base, base));
    for (int rest = n < 0 ? -n : n; rest != 0; rest >>= 1) {
        if (rest & 1) result = mul_$t(result, square);
        if (rest > 1) square = mul_$t(square, square);
    }
    return n < 0 ? div_$t(one, result) : result;
}

// The square root in the right half of the plane.
$q $T complex_sqrt_$t($T x) {
    $T root = {fabs$f(x.y), x.y};
    if (x.y - x.y != 0 && x.y == x.y) return root;  // infinite
    root.x = 0;
    if (x.x == 0 && x.y == 0) return root;
    $R scale = 1, a = fabs$f(x.x), b = fabs$f(x.y);
    if (a > ($R)1e37 || b > ($R)1e37) {  // the size may overflow
        a /= 16;
        b /= 16;
        scale = 4;
    } else if (a < ($R)1e-30 && b < ($R)1e-30) {  // the size may be subnormal
        a *= ($R)1152921504606846976.0;           // 2**60
        b *= ($R)1152921504606846976.0;
        scale = ($R)9.31322574615478515625e-10;  // 2**-30
    }
    const $R half = sqrt$f((a + hypot$f(a, b)) / 2), other = b / (2 * half);
    root.x = scale * (x.x >= 0 ? half : other);
    root.y = copysign$f(scale * (x.x >= 0 ? other : half), x.y);
    return root;
}

// The hyperbolic sine.
$q $T complex_sinh_$t($T x) {
    if (fabs$f(x.x) > 40) {  // exp(|x|) / 2, which may overflow where the result does not
        const $T power = {fabs$f(x.x) - 1, x.y}, far = complex_exp_$t(power);
        const $R ratio = ($R)1.35914091422952261768;  // e / 2
        const $T sine = {copysign$f(ratio, x.x) * far.x, ratio * far.y};
        return sine;
    }
    const bool is_zero = x.x == 0 && x.y - x.y != 0;  // in any direction
    const $T sine = {is_zero ? x.x : sinh$f(x.x) * cos$f(x.y),
                     x.y == 0 ? x.y : cosh$f(x.x) * sin$f(x.y)};
    return sine;
}

// The hyperbolic cosine.
$q $T complex_cosh_$t($T x) {
    if (fabs$f(x.x) > 40) {  // exp(|x|) / 2, which may overflow where the result does not
        const $T power = {fabs$f(x.x) - 1, x.y}, far = complex_exp_$t(power);
        const $R ratio = ($R)1.35914091422952261768;  // e / 2
        const $T cosine = {ratio * far.x, copysign$f(ratio, x.x) * far.y};
        return cosine;
    }
    $T cosine = {cosh$f(x.x) * cos$f(x.y), sinh$f(x.x) * sin$f(x.y)};
    if (x.x == 0 && x.y - x.y != 0) cosine.y = x.x;  // 0 in any direction
    if (x.y == 0) cosine.y = copysign$f(($R)1, x.x) * x.y;
    return cosine;
}

// The hyperbolic tangent.
$q $T complex_tanh_$t($T x) {
    if (fabs$f(x.x) > 20) {
        const $R rest = 4 * sin$f(x.y) * cos$f(x.y) * exp$f(-2 * fabs$f(x.x));
        $T far = {copysign$f(($R)1, x.x), rest};
        if (rest != rest && x.x - x.x != 0) far.y = 0;  // infinite, without a direction
        if (rest != rest && x.x - x.x == 0) far.x = rest;
        return far;
    }
    const $R t = tan$f(x.y), s = sinh$f(x.x);
    const $R beta = 1 + t * t, divisor = 1 + beta * s * s;
    const $T tangent = {x.x == 0 ? x.x : beta * sqrt$f(1 + s * s) * s / divisor,
                        x.y == 0 ? x.y : t / divisor};
    return tangent;
}

// The sine.
$q $T complex_sin_$t($T x) {
    const $T swapped = {x.y, x.x}, hyperbolic = complex_sinh_$t(swapped);
    const $T sine = {hyperbolic.y, hyperbolic.x};
    return sine;
}

// The cosine.
$q $T complex_cos_$t($T x) {
    const $T turned = {-x.y, x.x};
    return complex_cosh_$t(turned);
}

// The tangent.
$q $T complex_tan_$t($T x) {
    const $T swapped = {x.y, x.x}, hyperbolic = complex_tanh_$t(swapped);
    const $T tangent = {hyperbolic.y, hyperbolic.x};
    return tangent;
}

// The logarithm to the base 10.
$q $T complex_log10_$t($T x) {
    const $R ratio = ($R)0.43429448190325182765;
    const $T natural = complex_log_$t(x), logarithm = {natural.x * ratio, natural.y * ratio};
    return logarithm;
}

// The logarithm to the base 2.
$q $T complex_log2_$t($T x) {
    const $R ratio = ($R)1.44269504088896340736;
    const $T natural = complex_log_$t(x), logarithm = {natural.x * ratio, natural.y * ratio};
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

// Whether a is less than b: by the real parts, then by the imaginary parts.
$q bool complex_less_$t($T a, $T b) {
    return (a.x < b.x && a.y == a.y && b.y == b.y) || (a.x == b.x && a.y < b.y);
}

// Whether a is less than or equal to b.
$q bool complex_less_equal_$t($T a, $T b) {
    return (a.x < b.x && a.y == a.y && b.y == b.y) || (a.x == b.x && a.y <= b.y);
}

// The greater number, or the first with a NaN.
$q $T complex_maximum_$t($T a, $T b) {
    return complex_isnan_$t(a) || complex_less_equal_$t(b, a) ? a : b;
}

// The lesser number, or the first with a NaN.
$q $T complex_minimum_$t($T a, $T b) {
    return complex_isnan_$t(a) || complex_less_equal_$t(a, b) ? a : b;
}

// The greater number; if one has a NaN, the other.
$q $T complex_fmax_$t($T a, $T b) {
    return complex_isnan_$t(b) || complex_less_equal_$t(b, a) ? a : b;
}

// The lesser number; if one has a NaN, the other.
$q $T complex_fmin_$t($T a, $T b) {
    return complex_isnan_$t(b) || complex_less_equal_$t(a, b) ? a : b;
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
    if (fabs$f(x.x) > ($R)1e10 || fabs$f(x.y) > ($R)1e10) {  // a square may overflow
        const $R length = complex_log_$t(x).x + ($R)0.69314718055994530942;
        const $T far = {atan2$f(x.x, fabs$f(x.y)), copysign$f(length, x.y)};
        return far;
    }
    const $T below = {1 - x.x, -x.y}, above = {1 + x.x, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T arc = {x.x == 0 ? x.x : atan2$f(x.x, a.x * b.x - a.y * b.y),
                    asinh$f(a.x * b.y - a.y * b.x)};
    return arc;
}

// The arc cosine.
$q $T complex_acos_$t($T x) {
    if (fabs$f(x.x) > ($R)1e10 || fabs$f(x.y) > ($R)1e10) {  // a square may overflow
        const $R length = complex_log_$t(x).x + ($R)0.69314718055994530942;
        const $T far = {atan2$f(fabs$f(x.y), x.x), -copysign$f(length, x.y)};
        return far;
    }
    const $T below = {1 - x.x, -x.y}, above = {1 + x.x, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T arc = {x.x == 0 ? ($R)1.57079632679489661923 : 2 * atan2$f(a.x, b.x),
                    asinh$f(b.x * a.y - b.y * a.x)};
    return arc;
}

// The inverse hyperbolic cosine: the arc cosine, turned to the right half of the plane.
$q $T complex_acosh_$t($T x) {
    const $T arc = complex_acos_$t(x);
    const $T area = {fabs$f(arc.y), copysign$f(arc.x, x.y)};
    return area;
}

// The inverse hyperbolic sine.
$q $T complex_asinh_$t($T x) {
    const $T swapped = {x.y, x.x}, arc = complex_asin_$t(swapped);
    const $T area = {arc.y, arc.x};
    return area;
}

// The inverse hyperbolic tangent.
$q $T complex_atanh_$t($T x) {
    const $R size = fabs$f(x.x), rest = 1 - size;
    if (size > ($R)1e17 || fabs$f(x.y) > ($R)1e17) {  // a square may overflow
        const $R half = hypot$f(x.x / 2, x.y / 2);
        const $R length = half == half && half - half != 0 ? 0 : size / half / half / 4;
        $T far = {copysign$f(length, x.x), copysign$f(($R)1.57079632679489661923, x.y)};
        if (far.x != far.x || x.y != x.y) far.y = x.x - x.y;  // NaN
        return far;
    }
    const $R angle = atan2$f(2 * x.y, rest * (1 + size) - x.y * x.y) / 2;
    $R length = log1p$f(4 * size / (rest * rest + x.y * x.y)) / 4;
    if (size == 0) length = 0;
    if (rest == 0 && fabs$f(x.y) < ($R)1e-10) {  // a square may underflow
        length = (($R)0.69314718055994530942 - log$f(fabs$f(x.y))) / 2;
    }
    const $T area = {copysign$f(length, x.x), angle};
    return area;
}

// The arc tangent.
$q $T complex_atan_$t($T x) {
    const $T swapped = {x.y, x.x}, area = complex_atanh_$t(swapped);
    const $T arc = {area.y, area.x};
    return arc;
}

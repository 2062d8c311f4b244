"""Helpers for inverse trigonometric and hyperbolic functions of complex numbers.

The formulas are W. Kahan's, so that the sign of a zero selects the side of a branch cut. They use
the roots of ``1 - x`` and ``1 + x``, or another function of ``i * x``.
"""

from __future__ import annotations

ASIN = """
// The arc sine.
$q $T complex_asin_$t($T x) {
    const $T below = {1 - x.x, -x.y}, above = {1 + x.x, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T arc = {atan2$f(x.x, a.x * b.x - a.y * b.y), asinh$f(a.x * b.y - a.y * b.x)};
    return arc;
}
"""

ACOS = """
// The arc cosine.
$q $T complex_acos_$t($T x) {
    const $T below = {1 - x.x, -x.y}, above = {1 + x.x, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T arc = {2 * atan2$f(a.x, b.x), asinh$f(b.x * a.y - b.y * a.x)};
    return arc;
}
"""

ACOSH = """
// The inverse hyperbolic cosine.
$q $T complex_acosh_$t($T x) {
    const $T below = {x.x - 1, x.y}, above = {x.x + 1, x.y};
    const $T a = complex_sqrt_$t(below), b = complex_sqrt_$t(above);
    const $T area = {asinh$f(a.x * b.x + a.y * b.y), 2 * atan2$f(a.y, b.x)};
    return area;
}
"""

ASINH = """
// The inverse hyperbolic sine.
$q $T complex_asinh_$t($T x) {
    const $T turned = {-x.y, x.x}, arc = complex_asin_$t(turned);
    const $T area = {arc.y, -arc.x};
    return area;
}
"""

ATANH = """
// The inverse hyperbolic tangent.
$q $T complex_atanh_$t($T x) {
    const $R size = fabs$f(x.x), rest = 1 - size;
    const $R length = log1p$f(4 * size / (rest * rest + x.y * x.y)) / 4;
    const $R angle = atan2$f(2 * x.y, rest * (1 + size) - x.y * x.y) / 2;
    const $T area = {copysign$f(length, x.x), angle};
    return area;
}
"""

ATAN = """
// The arc tangent.
$q $T complex_atan_$t($T x) {
    const $T turned = {-x.y, x.x}, area = complex_atanh_$t(turned);
    const $T arc = {area.y, -area.x};
    return arc;
}
"""

COMPLEX_ARCS: dict[str, str] = {
    "complex_asin": ASIN,
    "complex_acos": ACOS,
    "complex_acosh": ACOSH,
    "complex_asinh": ASINH,
    "complex_atanh": ATANH,
    "complex_atan": ATAN,
}
CALLED = {  # each helper with its callees
    **dict.fromkeys(("complex_asin", "complex_acos", "complex_acosh"), ("complex_sqrt",)),
    "complex_asinh": ("complex_sqrt", "complex_asin"),
    "complex_atan": ("complex_atanh",),
}

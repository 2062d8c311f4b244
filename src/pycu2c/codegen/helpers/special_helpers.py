"""Helpers for CUDA's special functions with series, and for norms.

The functions for float32 compute in double.
"""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper, c_definition, helpers_of

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

_SERIES = {"@SERIES": _SINE_SERIES, "@INVERSE": _INVERSE_ERF, "@ERFCINV": _ERFCINV}


def _functions_with_series() -> str:
    text = c_definition("c/series")
    for marker, lines in _SERIES.items():
        text = text.replace(marker, lines)
    return text


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
    **helpers_of(_functions_with_series()),
    **helpers_of(f"{_modified_bessel(0)}{_modified_bessel(1)}", "floating"),
    "rhypot": _norm("rhypot", 2, "1 / sqrt(a * a + b * b)"),
    "norm3d": _norm("norm3d", 3, "sqrt(a * a + b * b + c * c)"),
    "norm4d": _norm("norm4d", 4, "sqrt(a * a + b * b + c * c + d * d)"),
    "rnorm3d": _norm("rnorm3d", 3, "1 / sqrt(a * a + b * b + c * c)"),
    "rnorm4d": _norm("rnorm4d", 4, "1 / sqrt(a * a + b * b + c * c + d * d)"),
}

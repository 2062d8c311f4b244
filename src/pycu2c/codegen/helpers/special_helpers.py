"""Helpers for CUDA's special functions with series, and for norms.

The functions for float32 compute in double.
"""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper, helpers_in


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
    **helpers_in("series"),
    "rhypot": _norm("rhypot", 2, "1 / sqrt(a * a + b * b)"),
    "norm3d": _norm("norm3d", 3, "sqrt(a * a + b * b + c * c)"),
    "norm4d": _norm("norm4d", 4, "sqrt(a * a + b * b + c * c + d * d)"),
    "rnorm3d": _norm("rnorm3d", 3, "1 / sqrt(a * a + b * b + c * c)"),
    "rnorm4d": _norm("rnorm4d", 4, "1 / sqrt(a * a + b * b + c * c + d * d)"),
}

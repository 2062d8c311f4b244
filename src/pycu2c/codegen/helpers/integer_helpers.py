"""Helpers for dot products of the numbers in words."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper


def _dot(name: str, signed: bool, bits: int, start: int) -> Helper:
    """Return a helper for the dot product of the numbers in two words, from byte ``start`` of y."""
    prefix = "" if signed else "u"
    word_type, x_type, y_type = f"{prefix}int32_t", f"{prefix}int{bits}_t", f"{prefix}int8_t"
    count = 32 // bits
    shift = f"8 * (i + {start})" if start else "8 * i"
    product = f"({word_type})({x_type})(x >> {bits} * i) * ({y_type})(y >> {shift})"
    return Helper(
        fixed=f"""
// z, and the products of {count} parts of x and of y.
$q {word_type} {name}({word_type} x, {word_type} y, {word_type} z) {{
    uint32_t sum = (uint32_t)z;
    for (int i = 0; i < {count}; ++i) sum += (uint32_t)({product});
    return ({word_type})sum;
}}
"""
    )


WORD_HELPERS: dict[str, Helper] = {
    f"{prefix}{stem}": _dot(f"{prefix}{stem}", signed, bits, start)
    for prefix, signed in (("", True), ("u", False))
    for stem, bits, start in (("dp4a", 8, 0), ("dp2a_lo", 16, 0), ("dp2a_hi", 16, 2))
}

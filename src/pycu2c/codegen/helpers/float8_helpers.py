"""Helpers for 8-bit floats: integer arithmetic on the bits, rounding to nearest, ties to even."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.floats.float8 import FORMATS, Format


def _from_float(of: Format) -> Helper:
    """Return the conversion from float; subnormal numbers are multiples of the smallest one."""
    smallest, drop = 127 + 1 - of.bias, 23 - of.fraction
    least = of.bias - 1 + of.fraction
    return Helper(
        fixed=f"""
// The bits of the nearest {of.name.upper()}; beyond the ends, of the end.
$q unsigned char float_to_{of.name}(float x) {{
    unsigned int bits;
    memcpy(&bits, &x, sizeof bits);
    const unsigned int sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return 0x7f;
    const float most = fminf(fabsf(x), {of.greatest}f);
    const unsigned int tiny = (unsigned int)rintf(most * {float(2**least)}f);
    if (size < {smallest}u << 23) return (unsigned char)(sign | tiny);
    memcpy(&bits, &most, sizeof bits);
    bits += {(1 << drop - 1) - 1} + (bits >> {drop} & 1);
    return (unsigned char)(sign | ((bits >> {drop}) - {127 - of.bias << of.fraction}u));
}}
"""
    )


def _to_float(of: Format) -> Helper:
    drop = 23 - of.fraction
    least = of.bias - 1 + of.fraction
    odd = "size == 0x7f ? 0x7fc00000u"
    if of.name == "e5m2":
        odd = "size >= 0x7c ? 0x7f800000u | (size & 3) << 21"
    return Helper(
        fixed=f"""
// The float that the {of.name.upper()} with these bits is.
$q float {of.name}_to_float(unsigned char x) {{
    const float sign = x & 0x80 ? -1.0f : 1.0f;
    const unsigned int size = x & 0x7f;
    if (size < {1 << of.fraction}) return sign * (float)size / {float(2**least)}f;
    const unsigned int bits = {odd} : (size << {drop}) + ({127 - of.bias}u << 23);
    float value;
    memcpy(&value, &bits, sizeof value);
    return sign * value;
}}
"""
    )


EIGHTH_HELPERS: dict[str, Helper] = {
    **{f"float_to_{of.name}": _from_float(of) for of in FORMATS},
    **{f"{of.name}_to_float": _to_float(of) for of in FORMATS},
}

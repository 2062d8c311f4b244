"""Helpers for instructions of GPUs on words of 2 or 4 numbers: dot products, and SIMD in a word."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.integers.simd_within_register import OPERATIONS, Operation


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


def _operands(bits: int, signed: bool, parameters: int = 2) -> str:
    """Return the declarations of a and b, the numbers at bit ``i`` of the words x and y."""
    c_type = f"{'' if signed else 'u'}int{bits}_t"
    second = f", b = ({c_type})(y >> i)" if parameters == 2 else ""
    return f"        const int32_t a = ({c_type})(x >> i){second};"


def _simd_within_register(op: Operation, count: int) -> Helper:
    """Return a helper for an operation on each of the numbers in words."""
    bits = 32 // count
    minimum, maximum = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if op.signed else (0, (1 << bits) - 1)
    )
    value = "value"
    if op.saturates:
        value = f"(value < {minimum} ? {minimum} : value > {maximum} ? {maximum} : value)"
    parameters = "uint32_t x, uint32_t y" if op.parameter_count == 2 else "uint32_t x"
    return Helper(
        fixed=f"""
// {op.doc.replace("``", "")}, of {count} numbers in a word.
$q uint32_t {op.name}{count}({parameters}) {{
    uint32_t word = 0;
    for (int i = 0; i < 32; i += {bits}) {{
{_operands(bits, op.signed, op.parameter_count)}
        const int32_t value = {op.c};
        word |= ((uint32_t){value} & 0x{(1 << bits) - 1:x}) << i;
    }}
    return word;
}}
"""
    )


def _sum_of_differences(count: int, signed: bool) -> Helper:
    bits = 32 // count
    return Helper(
        fixed=f"""
// The sum of |a - b|, of {count} numbers in a word.
$q uint32_t vsad{"s" if signed else "u"}{count}(uint32_t x, uint32_t y) {{
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += {bits}) {{
{_operands(bits, signed)}
        sum += (uint32_t)(a < b ? b - a : a - b);
    }}
    return sum;
}}
"""
    )


WORD_HELPERS: dict[str, Helper] = {
    **{
        f"{prefix}{stem}": _dot(f"{prefix}{stem}", signed, bits, start)
        for prefix, signed in (("", True), ("u", False))
        for stem, bits, start in (("dp4a", 8, 0), ("dp2a_lo", 16, 0), ("dp2a_hi", 16, 2))
    },
    **{
        f"{op.name}{count}": _simd_within_register(op, count)
        for op in OPERATIONS
        for count in (2, 4)
    },
    **{
        f"vsad{'s' if signed else 'u'}{count}": _sum_of_differences(count, signed)
        for count in (2, 4)
        for signed in (True, False)
    },
}

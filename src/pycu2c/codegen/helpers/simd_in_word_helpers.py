"""Helpers for SIMD-in-a-word arithmetic on the CPU: words of 2 or 4 numbers."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.integers.simd_in_word_operations import OPERATIONS, Operation


def _parts(bits: int, signed: bool, takes: int = 2) -> str:
    kind = f"{'' if signed else 'u'}int{bits}_t"
    second = f", b = ({kind})(y >> i)" if takes == 2 else ""
    return f"        const int32_t a = ({kind})(x >> i){second};"


def _of_parts(op: Operation, count: int) -> Helper:
    bits = 32 // count
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if op.signed else (0, (1 << bits) - 1)
    value = "value"
    if op.saturates:
        value = f"(value < {least} ? {least} : value > {most} ? {most} : value)"
    parameters = "uint32_t x, uint32_t y" if op.takes == 2 else "uint32_t x"
    return Helper(
        fixed=f"""
// {op.said.replace("``", "")}, of {count} numbers in a word.
$q uint32_t {op.name}{count}({parameters}) {{
    uint32_t word = 0;
    for (int i = 0; i < 32; i += {bits}) {{
{_parts(bits, op.signed, op.takes)}
        const int32_t value = {op.c};
        word |= ((uint32_t){value} & 0x{(1 << bits) - 1:x}) << i;
    }}
    return word;
}}
"""
    )


def _sum(count: int, signed: bool) -> Helper:
    bits = 32 // count
    return Helper(
        fixed=f"""
// The sum of |a - b|, of {count} numbers in a word.
$q uint32_t vsad{"s" if signed else "u"}{count}(uint32_t x, uint32_t y) {{
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += {bits}) {{
{_parts(bits, signed)}
        sum += (uint32_t)(a < b ? b - a : a - b);
    }}
    return sum;
}}
"""
    )


PACKED_WORD_HELPERS: dict[str, Helper] = {
    **{f"{op.name}{count}": _of_parts(op, count) for op in OPERATIONS for count in (2, 4)},
    **{
        f"vsad{'s' if signed else 'u'}{count}": _sum(count, signed)
        for count in (2, 4)
        for signed in (True, False)
    },
}

"""Helpers for integer instructions of GPUs on the CPU: high products, averages, byte operations."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper

_INT, _UINT, _LL, _ULL = "int32_t", "uint32_t", "int64_t", "uint64_t"


def _one_line(comment: str, name: str, kinds: str, gives: str, formula: str) -> Helper:
    """Return a helper; ``kinds`` are the types of x, y and z."""
    parameters = ", ".join(f"{kind} {n}" for kind, n in zip(kinds.split(), "xyz"))
    return Helper(
        fixed=f"""
// {comment}
$q {gives} {name}({parameters}) {{
    return {formula};
}}
"""
    )


_UPPER_64 = """
// The upper 64 bits of x * y.
$q uint64_t umul64hi(uint64_t x, uint64_t y) {
    const uint64_t a = x >> 32, b = x & 0xffffffff, c = y >> 32, d = y & 0xffffffff;
    const uint64_t low = b * d, left = a * d, right = b * c;
    const uint64_t middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff);
    return a * c + (left >> 32) + (right >> 32) + (middle >> 32);
}
"""
_UPPER_64_SIGNED = """
// The upper 64 bits of x * y.
$q int64_t mul64hi(int64_t x, int64_t y) {
    const uint64_t a = (uint64_t)x >> 32, b = (uint64_t)x & 0xffffffff;
    const uint64_t c = (uint64_t)y >> 32, d = (uint64_t)y & 0xffffffff;
    const uint64_t low = b * d, left = a * d, right = b * c;
    const uint64_t middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff);
    const uint64_t high = a * c + (left >> 32) + (right >> 32) + (middle >> 32);
    return (int64_t)(high - (x < 0 ? (uint64_t)y : 0) - (y < 0 ? (uint64_t)x : 0));
}
"""
_MUL24 = """
// The lower 32 bits of the product of the lower 24 bits of each.
$q int32_t mul24(int32_t x, int32_t y) {
    const int32_t a = (int32_t)((uint32_t)x << 8) >> 8, b = (int32_t)((uint32_t)y << 8) >> 8;
    return (int32_t)((uint32_t)a * (uint32_t)b);
}
"""
_BYTE_PERM = """
// Four of the eight bytes of y:x, as the parts of z say.
$q uint32_t byte_perm(uint32_t x, uint32_t y, uint32_t z) {
    const uint64_t both = (uint64_t)y << 32 | x;
    uint32_t result = 0;
    for (int place = 0; place < 4; ++place) {
        const uint32_t byte = (uint32_t)(both >> 8 * (z >> 4 * place & 7)) & 0xff;
        result |= byte << 8 * place;
    }
    return result;
}
"""


def _dot(name: str, signed: bool, bits: int, start: int) -> Helper:
    """Return a helper for the dot product of the parts of two words."""
    word = _INT if signed else _UINT
    wide = {8: "int8_t", 16: "int16_t"} if signed else {8: "uint8_t", 16: "uint16_t"}
    count = 32 // bits
    at = f"8 * (i + {start})" if start else "8 * i"
    product = f"({word})({wide[bits]})(x >> {bits} * i) * ({wide[8]})(y >> {at})"
    return Helper(
        fixed=f"""
// z, and the products of {count} parts of x and of y.
$q {word} {name}({word} x, {word} y, {word} z) {{
    uint32_t sum = (uint32_t)z;
    for (int i = 0; i < {count}; ++i) sum += (uint32_t)({product});
    return ({word})sum;
}}
"""
    )


_DOTS = {
    f"{prefix}{stem}": _dot(f"{prefix}{stem}", signed, bits, start)
    for prefix, signed in (("", True), ("u", False))
    for stem, bits, start in (("dp4a", 8, 0), ("dp2a_lo", 16, 0), ("dp2a_hi", 16, 2))
}

_TWO_SIGNED, _TWO = "int32_t int32_t", "uint32_t uint32_t"
_THREE = "uint32_t uint32_t uint32_t"
_BOTH = "((uint64_t)y << 32 | x)"

# name, types of the parameters, type of the result, formula, meaning
_LINES = (
    (
        "mulhi",
        _TWO_SIGNED,
        _INT,
        "(int32_t)((int64_t)x * y >> 32)",
        "The upper 32 bits of x * y.",
    ),
    (
        "umulhi",
        _TWO,
        _UINT,
        "(uint32_t)((uint64_t)x * y >> 32)",
        "The upper 32 bits of x * y.",
    ),
    (
        "umul24",
        _TWO,
        _UINT,
        "(x & 0xffffff) * (y & 0xffffff)",
        "The lower 32 bits of the product of the lower 24 bits of each.",
    ),
    ("hadd", _TWO_SIGNED, _INT, "(x & y) + ((x ^ y) >> 1)", "The average, rounded down."),
    ("uhadd", _TWO, _UINT, "(x & y) + ((x ^ y) >> 1)", "The average, rounded down."),
    ("rhadd", _TWO_SIGNED, _INT, "(x | y) - ((x ^ y) >> 1)", "The average, rounded up."),
    ("urhadd", _TWO, _UINT, "(x | y) - ((x ^ y) >> 1)", "The average, rounded up."),
    (
        "sad",
        "int32_t int32_t uint32_t",
        _UINT,
        "(x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x) + z",
        "|x - y| + z",
    ),
    ("usad", _THREE, _UINT, "(x > y ? x - y : y - x) + z", "|x - y| + z"),
    (
        "funnelshift_l",
        _THREE,
        _UINT,
        f"(uint32_t)({_BOTH} << (z & 31) >> 32)",
        "The upper word of y:x, shifted left.",
    ),
    (
        "funnelshift_lc",
        _THREE,
        _UINT,
        f"z < 32 ? (uint32_t)({_BOTH} << z >> 32) : x",
        "The upper word of y:x, shifted left by 32 at most.",
    ),
    (
        "funnelshift_r",
        _THREE,
        _UINT,
        f"(uint32_t)({_BOTH} >> (z & 31))",
        "The lower word of y:x, shifted right.",
    ),
    (
        "funnelshift_rc",
        _THREE,
        _UINT,
        f"(uint32_t)({_BOTH} >> (z < 32 ? z : 32))",
        "The lower word of y:x, shifted right by 32 at most.",
    ),
)

WORD_HELPERS: dict[str, Helper] = {
    **{n: _one_line(said, n, kinds, gives, formula) for n, kinds, gives, formula, said in _LINES},
    "umul64hi": Helper(fixed=_UPPER_64),
    "mul64hi": Helper(fixed=_UPPER_64_SIGNED),
    "mul24": Helper(fixed=_MUL24),
    "byte_perm": Helper(fixed=_BYTE_PERM),
    **_DOTS,
}

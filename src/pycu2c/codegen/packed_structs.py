"""What lies in CUDA's packed structs: copies of types, without alignment.

CUDA aligns its vectors and makes classes of its halves, and a compiler takes their alignment for
granted wherever such a value is read or written whole, also in a packed struct. So there a struct
of the same bytes stands for the type; ``aligned(x)`` and ``packed(x)`` turn one into the other.
"""

from __future__ import annotations

from string import Template

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType


def needs_copy(dtype: DType) -> bool:
    """Whether values of a type are to be copied out of a packed struct and into it."""
    return dtype.is_half or (bool(dtype.fields) and dtype.alignment > 1)


def copy_of(name: str) -> str:
    """What the copy of a type is called."""
    return f"{name.strip('_')}_packed"


_WHOLE = """
// $T at any address.
__device__ __forceinline__ $T aligned(const struct $P &x) {
    $T value;
    memcpy(&value, &x, sizeof value);
    return value;
}

__device__ __forceinline__ struct $P packed($T x) {
    $packed
    return value;
}
"""

_COPIED = "struct $P value;\n    memcpy(&value, &x, sizeof value);"

# The bits go through a register of 32: ptxas 13.0 takes a conversion whose 16 bits are stored
# byte by byte for one to a whole number of 8 bits.
_HALF = """
// $T at any address.
struct __attribute__((packed)) $P {
    unsigned short bits;
};

__device__ __forceinline__ $T aligned(const struct $P &x) {
    return $from(x.bits);
}

__device__ __forceinline__ struct $P packed($T x) {
    unsigned bits;
    asm("cvt.u32.u16 %0, %1;" : "=r"(bits) : "h"($to(x)));
    const struct $P value = {(unsigned short)bits};
    return value;
}
"""

_BITS = {
    FLOAT16: {"from": "__ushort_as_half", "to": "__half_as_ushort"},
    BFLOAT16: {"from": "__ushort_as_bfloat16", "to": "__bfloat16_as_ushort"},
}


def conversions(dtype: DType, name: str) -> str:
    """``aligned`` and ``packed`` for the type that C calls ``name``; of a half its copy, too."""
    plain = copy_of(name.removeprefix("struct "))
    if dtype.is_half:
        return Template(_HALF.strip("\n")).substitute(T=name, P=plain, **_BITS[dtype])
    text = Template(_WHOLE.strip("\n")).safe_substitute(packed=_packed(dtype))
    return Template(text).substitute(T=name, P=plain)


def _packed(dtype: DType) -> str:
    """How a value is copied: halves one by one, as their bits have a way of their own."""
    if not any(field.dtype.is_half for field in dtype.fields):
        return _COPIED
    parts = ", ".join(f"packed(x.{field.name})" for field in dtype.fields)
    return f"const struct $P value = {{{parts}}};"

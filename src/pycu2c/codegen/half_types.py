"""The types float16 and bfloat16 in C, and their conversions. Arithmetic is done in float.

The conversions use ``_Float16`` where the compiler has it, else integer arithmetic on the bits.
They round to nearest, ties to even.
"""

from __future__ import annotations

import numpy as np

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from pycu2c.csyntax import nodes as c

HEADERS = {FLOAT16: "cuda_fp16.h", BFLOAT16: "cuda_bf16.h"}

# (from, to) -> the function that converts; CUDA's are in its headers, C's in the texts below
CUDA_CONVERSIONS: dict[tuple[DType, DType], str] = {
    (FLOAT16, FLOAT32): "__half2float",
    (FLOAT32, FLOAT16): "__float2half_rn",
    (FLOAT64, FLOAT16): "__double2half",
    (BFLOAT16, FLOAT32): "__bfloat162float",
    (FLOAT32, BFLOAT16): "__float2bfloat16_rn",
    (FLOAT64, BFLOAT16): "__double2bfloat16",
}


def conversion(source: DType, to: DType, dialect: str) -> str:
    """Return the name of the function that converts between a half type and float or double."""
    if dialect == "cuda":
        return CUDA_CONVERSIONS[source, to]
    return f"{to.name}_from_{source.c}"


_FLOAT16 = """
#ifdef __FLT16_MAX__
typedef _Float16 float16;
static inline float float32_from_float16(float16 x) { return (float)x; }
static inline float16 float16_from_float(float x) { return (float16)x; }
static inline float16 float16_from_double(double x) { return (float16)x; }
#else
typedef uint16_t float16;
static inline float float32_from_float16(float16 x) {
    union { uint32_t bits; float value; } out;
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, size = x & 0x7fff;
    if (size < 0x400) return (sign ? -1.0f : 1.0f) * (float)size / 16777216.0f;
    out.bits = sign | (size < 0x7c00 ? (size << 13) + 0x38000000 : (size << 13) | 0x7f800000);
    return out.value;
}
static inline float16 float16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    const uint32_t sign = in.bits >> 16 & 0x8000, size = in.bits & 0x7fffffff;
    if (size > 0x7f800000) return (float16)(sign | 0x7e00);
    if (size >= 0x47800000) return (float16)(sign | 0x7c00);
    if (size < 0x38800000) return (float16)(sign | (uint32_t)rintf(fabsf(x) * 16777216.0f));
    return (float16)(sign | (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
}
static inline float16 float16_from_double(double x) {
    union { float value; uint32_t bits; } near = {(float)x};
    if (fabs((double)near.value) > fabs(x)) near.bits -= 1;
    if ((double)near.value != x) near.bits |= 1;  // rounded to odd, so that once more is right
    return float16_from_float(near.value);
}
#endif
"""

_BFLOAT16 = """
typedef uint16_t bfloat16;
static inline float float32_from_bfloat16(bfloat16 x) {
    union { uint32_t bits; float value; } out = {(uint32_t)x << 16};
    return out.value;
}
static inline bfloat16 bfloat16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    if (x != x) return (bfloat16)(in.bits >> 16 | 0x40);
    return (bfloat16)((in.bits + 0x7fff + (in.bits >> 16 & 1)) >> 16);
}
static inline bfloat16 bfloat16_from_double(double x) {
    union { float value; uint32_t bits; } near = {(float)x};
    if (fabs((double)near.value) > fabs(x)) near.bits -= 1;
    if ((double)near.value != x && x == x) near.bits |= 1;  // rounded to odd
    return bfloat16_from_float(near.value);
}
"""


# initializers of constant arrays, where C does not allow a call
_CONSTANT_FLOAT16 = """
#ifdef __FLT16_MAX__
#define float16_constant(value, bits) ((float16)value)
#else
#define float16_constant(value, bits) bits
#endif
"""


def constant(value: float, literal: c.Expr, dtype: DType, dialect: str) -> c.Expr:
    """Return an element of a constant array; ``literal`` is its value as a float literal."""
    bits = c.Number(f"{int(np.array(value, dtype.numpy).view(np.uint16)):#06x}")
    if dialect == "cuda":
        return c.CompoundLiteral(f"{dtype.cuda}_raw", (bits,))
    return c.CallExpr("float16_constant", (literal, bits)) if dtype is FLOAT16 else bits


def constant_definition(dtype: DType) -> str:
    """Return the macro that ``constant`` uses, in the C for CPUs."""
    return _CONSTANT_FLOAT16.strip("\n") if dtype is FLOAT16 else ""


def definition(dtype: DType) -> str:
    """Return the type and its conversions, in the C for CPUs."""
    return (_FLOAT16 if dtype is FLOAT16 else _BFLOAT16).strip("\n")

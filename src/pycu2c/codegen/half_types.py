"""The types float16 and bfloat16 in C, and their conversions. Arithmetic is done in float.

The conversions use ``_Float16`` where the compiler has it, else integer arithmetic on the bits.
They round to nearest, ties to even.
"""

from __future__ import annotations

import numpy as np

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from pycu2c.codegen.helpers.templates import c_definition
from pycu2c.csyntax import nodes as c

HEADERS = {FLOAT16: "cuda_fp16.h", BFLOAT16: "cuda_bf16.h"}

# (from, to) -> the function that converts; CUDA's are in its headers, C's in helpers
CUDA_CONVERSIONS: dict[tuple[DType, DType], str] = {
    (FLOAT16, FLOAT32): "__half2float",
    (FLOAT32, FLOAT16): "__float2half_rn",
    (FLOAT64, FLOAT16): "__double2half",
    (BFLOAT16, FLOAT32): "__bfloat162float",
    (FLOAT32, BFLOAT16): "__float2bfloat16_rn",
    (FLOAT64, BFLOAT16): "__double2bfloat16",
}


def conversion(source: DType, target: DType, dialect: str) -> str:
    """Return the name of the function that converts between a half type and float or double."""
    if dialect == "cuda":
        return CUDA_CONVERSIONS[source, target]
    return f"{target.name}_from_{source.c}"


# initializers of constant arrays, where C does not allow a call
_CONSTANT_FLOAT16 = """
#ifdef __FLT16_MAX__
#define float16_constant(value, bits) ((float16)value)
#else
#define float16_constant(value, bits) bits
#endif
"""


def constant(value: float, literal: c.Expr, dtype: DType, dialect: str, packed: bool) -> c.Expr:
    """Return an element of a constant array; ``literal`` is its value as a float literal."""
    bits = c.Number(f"{int(np.array(value, dtype.numpy).view(np.uint16)):#06x}")
    if dialect == "cuda":
        return c.CompoundLiteral("" if packed else f"{dtype.cuda}_raw", (bits,))
    return c.CallExpr("float16_constant", (literal, bits)) if dtype is FLOAT16 else bits


def constant_definition(dtype: DType) -> str:
    """Return the macro that ``constant`` uses, in the C for CPUs."""
    return _CONSTANT_FLOAT16.strip("\n") if dtype is FLOAT16 else ""


def definition(dtype: DType) -> str:
    """Return the type and its conversions, in the C for CPUs."""
    return c_definition(dtype.name).strip("\n")

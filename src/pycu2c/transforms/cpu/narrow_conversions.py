"""Convert floats to narrow integers without a conversion to int64, where the number fits in int32.

``int32(math.floor(x))`` is a conversion to int64 and one to int32, which keeps the low bits.
Compilers do not vectorize loops that convert to int64 and load at indices of 32 bits.

Before: ``int32(math.floor(x))`` and ``int32(int(x))``. After: ``low_bits(numpy.floor(x))`` and
``low_bits(x)``, which converts to int32 if the number fits, else as before. Requires C meaning.
"""

from __future__ import annotations

from pycu2c.base.dtypes import INT32, INT64
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.verify_expressions import is_integer
from pycu2c.ir.walk import map_expr, map_functions, with_body
from pycu2c.ops.intrinsics.floats.math import ROUNDING_TO_FLOAT
from pycu2c.ops.intrinsics.threads.cpu_block import low_bits


def narrow_conversions(module: ir.Module) -> ir.Module:
    """Replace conversions of floats to int64 whose result becomes a narrower integer."""
    return map_functions(module, lambda f: with_body(f, map_expr(f.body, _narrowed)))


def _narrowed(e: ir.Expr) -> ir.Expr:
    if not (isinstance(e, ir.Cast) and is_integer(e.type) and e.type.dtype.bits <= INT32.bits):
        return e
    match e.operand:
        case ir.Cast(operand=x, type=Scalar(dtype=dtype)) if dtype is INT64 and _is_c_float(x):
            number = x
        case ir.Apply(intrinsic, (x,)) if _is_c_float(x) and intrinsic in ROUNDING_TO_FLOAT:
            number = ir.Apply(ROUNDING_TO_FLOAT[intrinsic], (x,), x.type, e.span)
        case _:
            return e
    low = ir.Apply(low_bits, (number,), Scalar(INT32), e.span)
    return low if e.type.dtype is INT32 else replace(e, operand=low)


def _is_c_float(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype in low_bits.dtypes

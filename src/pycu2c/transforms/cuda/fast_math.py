"""What ``@kernel(fastmath=True)`` lets a GPU do in one instruction. The rest is the compiler's."""

from __future__ import annotations

from pycu2c.analysis.ranges.range_analysis import Facts
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir.nodes import Apply, Expr, Module
from pycu2c.ir.walk import map_expr, map_functions
from pycu2c.ops.intrinsics.registry import REGISTRY

_ANY_NAN = {
    REGISTRY["min"]: REGISTRY["numpy.fmin"],
    REGISTRY["max"]: REGISTRY["numpy.fmax"],
}


def relax_nan_order(module: Module, facts: Facts) -> Module:
    """``min.float32(a, b)`` -> ``numpy.fmin.float32(a, b)``: whichever is a number, where Python
    takes the first if one is not."""
    if not facts.fastmath:
        return module
    return map_functions(module, lambda f: replace(f, body=map_expr(f.body, _any_nan)))


def _any_nan(e: Expr) -> Expr:
    row = _ANY_NAN.get(e.intrinsic) if isinstance(e, Apply) else None
    if row is None or not isinstance(e.type, Scalar) or e.type.dtype not in row.dtypes:
        return e
    assert isinstance(e, Apply)
    return replace(e, intrinsic=row)

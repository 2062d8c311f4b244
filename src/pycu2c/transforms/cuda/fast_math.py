"""Fast-math replacements for CUDA; other optimizations are left to the CUDA compiler.

Requires the form TYPED (``ir/forms.py``), and ``fastmath``.
"""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_expr, map_functions, with_body
from pycu2c.ops.intrinsics.registry import REGISTRY

_FAST_EQUIVALENTS = {
    REGISTRY["min"]: REGISTRY["numpy.fmin"],
    REGISTRY["max"]: REGISTRY["numpy.fmax"],
}


def relax_nan_order(module: ir.Module) -> ir.Module:
    """Replace ``min.float32(a, b)`` by ``numpy.fmin.float32(a, b)`` under ``fastmath``.

    If one operand is NaN, fmin returns the other one, whereas Python returns the first.
    """
    return map_functions(module, lambda f: with_body(f, map_expr(f.body, _relax)))


def _relax(e: ir.Expr) -> ir.Expr:
    replacement = _FAST_EQUIVALENTS.get(e.intrinsic) if isinstance(e, ir.Apply) else None
    if (
        replacement is None
        or not isinstance(e.type, Scalar)
        or e.type.dtype not in replacement.dtypes
    ):
        return e
    assert isinstance(e, ir.Apply)
    return replace(e, intrinsic=replacement)

"""Recognize the grid index: ``blockIdx.x * blockDim.x + threadIdx.x`` -> ``cuda.grid.x()``.

Requires the form TYPED (``ir/forms.py``). Range analysis and the CPU passes then know the bounds of
the index.
"""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_expr, map_functions
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, MUL


def recognize_grid_index(module: ir.Module) -> ir.Module:
    """Replace the sum that computes a grid index with the intrinsic ``cuda.grid``."""
    return map_functions(module, lambda f: replace(f, body=map_expr(f.body, _recognize)))


def _recognize(e: ir.Expr) -> ir.Expr:
    if not (isinstance(e, ir.Binary) and e.op is ADD and e.type == WEAK_INT):
        return e
    for product, thread in ((e.left, e.right), (e.right, e.left)):
        if isinstance(product, ir.Binary) and product.op is MUL:
            factors = {_intrinsic_name(product.left), _intrinsic_name(product.right)}
            for axis in "xyz":
                expected = {f"cuda.blockIdx.{axis}", f"cuda.blockDim.{axis}"}
                if factors == expected and _intrinsic_name(thread) == f"cuda.threadIdx.{axis}":
                    return ir.Apply(REGISTRY[f"cuda.grid.{axis}"], (), WEAK_INT, e.span)
    return e


def _intrinsic_name(e: ir.Expr) -> str:
    return e.intrinsic.name if isinstance(e, ir.Apply) else ""

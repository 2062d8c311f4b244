"""Recognize the index of a thread in the grid, and the number of threads.

``blockIdx.x * blockDim.x + threadIdx.x`` -> ``cuda.grid.x()``, ``gridDim.x * blockDim.x`` ->
``cuda.gridsize.x()``, also of variables that have these coordinates. Requires the form TYPED
(``ir/forms.py``). Range analysis and the CPU passes then know the bounds of the index, and that a
grid-stride loop cannot overflow.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.variables import single_assignments
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_expr, map_functions, with_body
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES
from pycu2c.ops.operators import ADD, MUL


def recognize_grid_index(module: ir.Module) -> ir.Module:
    """Replace the arithmetic with the intrinsics ``cuda.grid`` and ``cuda.gridsize``."""

    def recognize(function: ir.Function) -> ir.Function:
        recognizer = GridIndexRecognizer(coordinate_variables(function))
        return with_body(function, map_expr(function.body, recognizer.recognize))

    return map_functions(module, recognize)


def coordinate_variables(function: ir.Function) -> dict[str, Intrinsic]:
    """Return the variables that always have a coordinate: ``tx`` after ``tx = cuda.threadIdx.x``.

    No block encloses their only assignment, so that every read is after it.
    """
    assigned_once = single_assignments(function)
    return {
        s.var.name: s.value.intrinsic
        for s in function.body
        if isinstance(s, ir.Assign)
        and isinstance(s.value, ir.Apply)
        and s.value.intrinsic.is_special_register
        and s.var.name in assigned_once
    }


@dataclass(frozen=True, slots=True)
class GridIndexRecognizer:
    """Recognizes sums and products of a function; ``block``: the threads by axis, if known."""

    variables: Mapping[str, Intrinsic]  # that have the values of coordinates
    block: Mapping[str, int] = field(default_factory=dict)

    def recognize(self, e: ir.Expr) -> ir.Expr:
        if not (isinstance(e, ir.Binary) and e.op in (ADD, MUL) and e.type == WEAK_INT):
            return e
        for axis in AXES:
            if self.is_product(e, f"cuda.gridDim.{axis}", f"cuda.blockDim.{axis}"):
                return ir.Apply(REGISTRY[f"cuda.gridsize.{axis}"], (), WEAK_INT, e.span)
            if e.op is ADD and any(
                self.coordinate(thread) == f"cuda.threadIdx.{axis}"
                and self._is_block_start(product, axis)
                for product, thread in ((e.left, e.right), (e.right, e.left))
            ):
                return ir.Apply(REGISTRY[f"cuda.grid.{axis}"], (), WEAK_INT, e.span)
        return e

    def _is_block_start(self, e: ir.Expr, axis: str) -> bool:
        factors = f"cuda.blockDim.{axis}", self.block.get(axis, 0)
        return any(self.is_product(e, f"cuda.blockIdx.{axis}", factor) for factor in factors)

    def is_product(self, e: ir.Expr, *factors: str | int) -> bool:
        """Return whether an expression is a product of coordinates and numbers, in any order."""
        if not isinstance(e, ir.Binary) or e.op is not MUL:
            return False
        return {self.coordinate(e.left), self.coordinate(e.right)} == {*factors}

    def coordinate(self, e: ir.Expr) -> object:
        """Return the name of the intrinsic whose value an expression has, or a number, or ""."""
        if isinstance(e, ir.Const):
            return e.value
        if isinstance(e, ir.Var) and e.name in self.variables:
            return self.variables[e.name].name
        return e.intrinsic.name if isinstance(e, ir.Apply) else ""

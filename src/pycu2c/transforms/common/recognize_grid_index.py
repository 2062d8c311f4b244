"""Recognize the index of a thread in the grid, and the number of threads.

``blockIdx.x * blockDim.x + threadIdx.x`` -> ``cuda.grid.x()``, ``gridDim.x * blockDim.x`` ->
``cuda.gridsize.x()``, also of variables that have these coordinates. Requires the form TYPED
(``ir/forms.py``). Range analysis and the CPU passes then know the bounds of the index, and that a
grid-stride loop cannot overflow.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.variables import single_assignments
from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_expr, map_functions, with_body
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.operators import ADD, MUL


def recognize_grid_index(module: ir.Module) -> ir.Module:
    """Replace the arithmetic with the intrinsics ``cuda.grid`` and ``cuda.gridsize``."""

    def recognize(function: ir.Function) -> ir.Function:
        recognizer = _Recognizer(coordinate_variables(function))
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
class _Recognizer:
    """Recognizes the sums and products of one function."""

    variables: Mapping[str, Intrinsic]  # that have the values of coordinates

    def recognize(self, e: ir.Expr) -> ir.Expr:
        if not (isinstance(e, ir.Binary) and e.op in (ADD, MUL) and e.type == WEAK_INT):
            return e
        for axis in "xyz":
            if self._is_product(e, f"cuda.gridDim.{axis}", f"cuda.blockDim.{axis}"):
                return ir.Apply(REGISTRY[f"cuda.gridsize.{axis}"], (), WEAK_INT, e.span)
            if e.op is ADD and any(
                self._coordinate(thread) == f"cuda.threadIdx.{axis}"
                and self._is_product(product, f"cuda.blockIdx.{axis}", f"cuda.blockDim.{axis}")
                for product, thread in ((e.left, e.right), (e.right, e.left))
            ):
                return ir.Apply(REGISTRY[f"cuda.grid.{axis}"], (), WEAK_INT, e.span)
        return e

    def _is_product(self, e: ir.Expr, *names: str) -> bool:
        """Return whether an expression is the product of two coordinates, in any order."""
        if not isinstance(e, ir.Binary) or e.op is not MUL:
            return False
        return {self._coordinate(e.left), self._coordinate(e.right)} == {*names}

    def _coordinate(self, e: ir.Expr) -> str:
        """Return the name of the intrinsic whose value an expression has, or ""."""
        if isinstance(e, ir.Var) and e.name in self.variables:
            return self.variables[e.name].name
        return e.intrinsic.name if isinstance(e, ir.Apply) else ""

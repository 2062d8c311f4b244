"""Find the accesses of a SIMD loop whose consecutive threads access consecutive elements."""

from __future__ import annotations

from pycu2c.analysis.effects import is_speculatable
from pycu2c.analysis.simd_legality import LaneStrides
from pycu2c.analysis.variables import defined_names, names_in, single_definitions
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import contains, rewrite


def is_simple_simd_loop(loop: ir.AxisLoop) -> bool:
    """Return whether a loop is dense, in lockstep, and has no nested loops.

    Such loops are memory-bound.
    """
    has_no_loops = not contains(loop.body, ir.For | ir.While | ir.AxisLoop)
    is_dense = isinstance(loop.step, ir.Const) and loop.step.value == 1
    return loop.lockstep and is_dense and has_no_loops


class UnitStrideAccesses:
    """Unit-stride indices in a loop over threads."""

    def __init__(self, loop: ir.AxisLoop) -> None:
        self._values, self._local_names = single_definitions(loop.body), defined_names(loop.body)
        self._strides = LaneStrides(
            loop.var.name, self._values, self._local_names - self._values.keys()
        )

    def unit_stride_index(self, index: ir.Expr) -> ir.Expr | None:
        """Return a unit-stride index that any thread can evaluate, or None.

        It reads only the loop variable and values defined outside the loop.
        """
        expanded = self._substitute(index)
        is_computable = self._local_names.isdisjoint(names_in(expanded)) and is_speculatable(
            expanded
        )
        return expanded if is_computable and self._strides.of(index) == 1 else None

    def _substitute(self, e: ir.Expr) -> ir.Expr:
        """Replace the variables defined in the loop with their values."""

        def value(x: ir.Expr) -> ir.Expr:
            if isinstance(x, ir.Var) and x.name in self._values:
                return self._substitute(self._values[x.name])
            return x

        return rewrite(e, value)

"""Find arrays of which a launch writes every element and reads none (must-write analysis).

NumPy arrays of this kind need no host-to-device copy. The analysis finds stores at the thread's
grid index, ``out[i] = …``, that every thread with an element executes. The stores may be guarded by
bounds checks on ``i``, or be in loops over ``range(cuda.grid(1), n, cuda.gridsize(1))``. The
launcher checks that the grid and the bounds cover the array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.analysis.grid_extent import length_of
from pycu2c.analysis.thread_bounds import conjuncts
from pycu2c.analysis.variables import assignment_counts
from pycu2c.base.index_bounds import ArgumentExtent, AxisIndex, WrittenArray
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import negation
from pycu2c.ir.walk import all_expressions, contains
from pycu2c.ops.operators import GT, LT

_GridIndices: TypeAlias = "Mapping[str, AxisIndex]"  # by name of the variable
_CoveredArrays: TypeAlias = "dict[str, tuple[AxisIndex, ...]]"


def find_overwritten_arrays(module: ir.Module) -> tuple[WrittenArray, ...]:
    """Return the kernel arguments that a sufficiently large launch overwrites."""
    kernel = module.kernel
    covered = _CoverageSearch(kernel, assignment_counts(kernel)).covered(kernel.body, {})
    arguments = {p.name: p.argument for p in kernel.parameters if isinstance(p.type, Array)}
    read = _read_names(kernel.body)
    return tuple(
        WrittenArray(arguments[name], axes)
        for name, axes in covered.items()
        if name in arguments and name not in read
    )


def _read_names(body: ir.Body) -> set[str]:
    """Return the names used otherwise than as store targets and in shape queries."""
    occurrences, shape_queries = Counter[str](), Counter[str]()
    for e in all_expressions(body):
        if isinstance(e, ir.Var):
            occurrences[e.name] += 1
        elif isinstance(e, ir.Dim | ir.Stride):
            shape_queries[e.array.name] += 1
    return set(occurrences - shape_queries)


@dataclass(frozen=True, slots=True)
class _CoverageSearch:
    """Find the arrays that the statements of a kernel cover."""

    kernel: ir.Function
    counts: Mapping[str, int]  # definitions, by variable

    def covered(self, body: ir.Body, grid_indices: _GridIndices) -> _CoveredArrays:
        """Return the arrays in which each thread stores the element at its index."""
        result: _CoveredArrays = {}
        grid_indices = dict(grid_indices)
        for s in body:
            match s:
                case ir.Assign() | ir.Declare():
                    self._define_index(s, grid_indices)
                case ir.Store() if not s.path:
                    _record_store(s, grid_indices, result)
                case ir.If():
                    remaining = self._after_early_return(s, grid_indices)
                    if remaining is not None:
                        grid_indices = remaining
                        continue
                    result = self._covered_by_branches(s, grid_indices) | result
                case ir.For():
                    result = self._covered_by_loop(s, grid_indices) | result
            if _may_exit(s):
                break
        return result

    def _define_index(self, s: ir.Assign | ir.Declare, grid_indices: dict[str, AxisIndex]) -> None:
        value = s.value if isinstance(s, ir.Assign) else s.init
        axis = _axis_of(value, "cuda.grid.")
        if axis is not None and self.counts[s.var.name] == 1:
            grid_indices[s.var.name] = AxisIndex(axis, strided=False)

    def _length(self, e: ir.Expr) -> ArgumentExtent | None:
        """Return the length or the value of an argument that a bound is equal to, or None."""
        bound = _strip_casts(e)
        if isinstance(bound, ir.Var):
            is_changed = isinstance(bound.type, Array) or self.counts[bound.name] > 1
            if is_changed or not bound.type.dtype.is_integer:
                return None
        return length_of(bound, self.kernel)

    def _after_early_return(
        self, s: ir.If, grid_indices: _GridIndices
    ) -> dict[str, AxisIndex] | None:
        """Return the indices of the remaining threads after ``if i >= n: return``.

        Returns None for any other statement.
        """
        if len(s.then) != 1 or not isinstance(s.then[0], ir.Return) or s.orelse:
            return None
        return self._bounded(negation(s.condition), grid_indices)

    def _covered_by_branches(self, s: ir.If, grid_indices: _GridIndices) -> _CoveredArrays:
        bounded = self._bounded(s.condition, grid_indices)
        if bounded is not None:
            return self.covered(s.then, bounded)
        then, orelse = self.covered(s.then, grid_indices), self.covered(s.orelse, grid_indices)
        return {name: axes for name, axes in then.items() if orelse.get(name) == axes}

    def _covered_by_loop(self, s: ir.For, grid_indices: _GridIndices) -> _CoveredArrays:
        axis, step_axis = _axis_of(s.start, "cuda.grid."), _axis_of(s.step, "cuda.gridsize.")
        stop = self._length(s.stop)
        if axis is None or axis != step_axis or stop is None or self.counts[s.var.name] != 1:
            return {}
        if contains(s.body, ir.Break):
            return {}
        grid_index = AxisIndex(axis, strided=True, bounds=frozenset((stop,)))
        return self.covered(s.body, {**grid_indices, s.var.name: grid_index})

    def _bounded(
        self, condition: ir.Expr, grid_indices: _GridIndices
    ) -> dict[str, AxisIndex] | None:
        """Add the bounds that a condition such as ``i < n and j < m`` implies for indices.

        Returns None for other conditions.
        """
        bounded = dict(grid_indices)
        for e in conjuncts(condition):
            if not isinstance(e, ir.Binary) or e.op not in (LT, GT):
                return None
            index, bound = (e.left, e.right) if e.op is LT else (e.right, e.left)
            index, length = _strip_integer_casts(index), self._length(bound)
            if not isinstance(index, ir.Var) or index.name not in bounded or length is None:
                return None
            grid_index = bounded[index.name]
            bounded[index.name] = grid_index._replace(bounds=grid_index.bounds | {length})
        return bounded


def _record_store(s: ir.Store, grid_indices: _GridIndices, covered: _CoveredArrays) -> None:
    """Add the array if the indices are the grid indices of different axes."""
    indices = [
        grid_indices.get(i.name) if isinstance(i := _strip_casts(e), ir.Var) else None
        for e in s.indices
    ]
    axes = tuple(grid_index for grid_index in indices if grid_index is not None)
    if len(axes) == len(indices) == len({grid_index.grid_axis for grid_index in axes}):
        covered.setdefault(s.array.name, axes)


def _may_exit(s: ir.Stmt) -> bool:
    """Return whether some threads may not reach the code after a statement."""
    returns = contains((s,), ir.Return)
    if isinstance(s, ir.For | ir.While):
        return returns
    return returns or contains((s,), ir.Break | ir.Continue)


def _axis_of(e: ir.Expr | None, prefix: str) -> int | None:
    """Return the axis of a coordinate: 0 for ``cuda.grid.x()``; None for other expressions."""
    if isinstance(e, ir.Apply) and e.intrinsic.name.startswith(prefix):
        return "xyz".index(e.intrinsic.name.removeprefix(prefix))
    return None


def _strip_casts(e: ir.Expr) -> ir.Expr:
    """Remove casts that preserve element counts."""
    while isinstance(e, ir.Cast) and e.type.dtype.is_integer and e.type.dtype.size == 8:
        e = e.operand
    return e


def _strip_integer_casts(e: ir.Expr) -> ir.Expr:
    """Remove integer casts from the left side of a bounds check.

    For a nonnegative number, a cast never gives a larger one.
    """
    while isinstance(e, ir.Cast) and e.type.dtype.is_integer:
        e = e.operand
    return e

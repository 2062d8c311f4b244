"""Infer the extent of the grid from the comparisons that guard the effects of a kernel.

A grid of n threads along an axis computes the same as any larger one if the threads whose index is
n or more have no effect. The analysis finds a length or an integer argument for which that holds:
each store, atomic operation and ``print`` must be guarded, as in ``if i < n:``, or follow
``if i >= n: return``. Effects on shared and local memory do not count. An effect of one thread of
each block, under ``if cuda.threadIdx.x == 0:``, is one of the block. If there are no others, the
only length that the index is compared with determines the grid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

from pycu2c.analysis.effects import inline_c_has_effect
from pycu2c.analysis.thread_bounds import conjuncts
from pycu2c.analysis.variables import assignment_counts, single_assignments
from pycu2c.base.cached_properties import cached_property
from pycu2c.base.index_bounds import ArgumentExtent
from pycu2c.base.types import Array, MemorySpace, Scalar, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import negation
from pycu2c.ir.call_graph import functions_that
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    expressions,
    never_completes,
    operands,
    statements,
)
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import ADD, EQ, GT, LT, SUB


class _OneThread(Enum):
    """A guard that the index is 0, so that the thread is in every grid, or is one of its block."""

    OF_GRID = 0
    OF_BLOCK = 1


# per axis: the lengths that an index is less than
_Guards: TypeAlias = "Mapping[str, tuple[ArgumentExtent | _OneThread, ...]]"

_GRID, _GRID_SIZE = "cuda.grid.", "cuda.gridsize."
_BLOCK_COORDINATES = ("cuda.blockIdx.", "cuda.gridDim.")
_HIDDEN_SPACES = (MemorySpace.SHARED, MemorySpace.CLUSTER, MemorySpace.LOCAL)


def infer_grid_extent(module: ir.Module) -> tuple[ArgumentExtent, ...]:
    """Return the length that determines each axis of the grid; empty if none guard the effects."""
    return _GridInference(module).result()


def length_of(e: ir.Expr, kernel: ir.Function) -> ArgumentExtent | None:
    """Return the argument length or argument value that an expression reads, or None."""
    name = e.array.name if isinstance(e, ir.Dim) else e.name if isinstance(e, ir.Var) else None
    for p in kernel.parameters:
        if p.name == name:
            return ArgumentExtent(p.argument, e.axis if isinstance(e, ir.Dim) else None)
    return None


class _GridInference:
    """Infer the extent of the grid of one kernel."""

    def __init__(self, module: ir.Module) -> None:
        self.kernel = module.kernel
        self.visible_functions = functions_that(module.device_functions, _has_visible_effect)
        self.effects: list[_Guards] = []  # of each effect outside the block
        self.limits: dict[str, list[ArgumentExtent]] = {}  # in any comparison, by axis

    def result(self) -> tuple[ArgumentExtent, ...]:
        nodes = list(all_expressions(self.kernel.body))
        axes = sorted(filter(None, {_coordinate_axis(e, _GRID) for e in nodes}))
        block_axes = set(filter(None, (_coordinate_axis(e, *_BLOCK_COORDINATES) for e in nodes)))
        if axes != list("xyz")[: len(axes)] or not block_axes <= set(axes):
            return ()
        self._visit(self.kernel.body, {})
        common = [self._common_lengths(axis) for axis in axes]
        return tuple(lengths[0] for lengths in common) if all(common) else ()

    def _common_lengths(self, axis: str) -> list[ArgumentExtent]:
        """Return the lengths that guard all effects that depend on the grid index."""
        guards = [effect.get(axis, ()) for effect in self.effects]
        lengths = [
            [n for n in guard if isinstance(n, ArgumentExtent)]
            for guard in guards
            if not any(isinstance(n, _OneThread) for n in guard)
        ]
        if not lengths:
            limits = list(dict.fromkeys(self.limits.get(axis, [])))
            return limits if len(limits) == 1 else []
        return [n for n in lengths[0] if all(n in others for others in lengths)]

    # ---- effects and their guards --------------------------------------------------------------

    def _visit(self, body: ir.Body, guards: _Guards) -> None:
        """Record the visible effects of a block."""
        for s in body:
            for e in operands(s):
                self._visit_expression(e, guards)
            if isinstance(s, ir.Print) or (isinstance(s, ir.Store) and _is_visible(s.array)):
                self.effects.append(guards)
            if isinstance(s, ir.If):
                then_guards = _conjunction(guards, self._implied(s.condition, True))
                else_guards = _conjunction(guards, self._implied(s.condition, False))
                self._visit(s.then, then_guards)
                self._visit(s.orelse, else_guards)
                if never_completes(s.then):
                    guards = else_guards
                elif never_completes(s.orelse):
                    guards = then_guards
            elif isinstance(s, ir.While):
                self._visit(s.body, _conjunction(guards, self._implied(s.condition, True)))
            elif isinstance(s, ir.For):
                self._visit(s.body, _conjunction(guards, self._loop_guards(s)))
            else:
                for inner in bodies(s):
                    self._visit(inner, guards)

    def _visit_expression(self, e: ir.Expr, guards: _Guards) -> None:
        """Record the visible effects of an expression."""
        if _is_visible_call(e, self.visible_functions):
            self.effects.append(guards)
        if isinstance(e, ir.Logical | ir.Select):
            first, *others = children(e)
            self._visit_expression(first, guards)
            outcomes = (True, False) if isinstance(e, ir.Select) else (e.op is ir.LogicalOp.AND,)
            for other, outcome in zip(others, outcomes):
                self._visit_expression(other, _conjunction(guards, self._implied(first, outcome)))
            return
        for child in children(e):
            self._visit_expression(child, guards)

    def _implied(self, condition: ir.Expr, outcome: bool) -> _Guards:
        """Return the guards that a condition implies if it has this outcome."""
        guards: _Guards = {}
        for e in conjuncts(condition if outcome else negation(condition)):
            if isinstance(e, ir.Var) and e.name in self._definitions:
                guards = _conjunction(guards, self._implied(self._definitions[e.name], True))
            elif isinstance(e, ir.Binary):
                guards = _conjunction(guards, self._implied_by_comparison(e))
        return guards

    def _implied_by_comparison(self, e: ir.Binary) -> _Guards:
        if e.op is EQ:
            for index, value in ((e.left, e.right), (e.right, e.left)):
                axis = self._axis_of(index)
                if not isinstance(value, ir.Const):
                    continue
                if axis and value.value == 0:
                    return {axis: (_OneThread.OF_GRID,)}
                return dict.fromkeys(self._axes_in_block(index), (_OneThread.OF_BLOCK,))
        if e.op is LT:
            return self._below(e.left, e.right)
        return self._below(e.right, e.left) if e.op is GT else {}

    def _below(self, index: ir.Expr, bound: ir.Expr) -> _Guards:
        """Return the guards that ``index < bound`` implies."""
        axis, length = self._axis_of(_without_constant(index, ADD)), self._length(bound)
        if not axis or not length:
            return {}
        self.limits.setdefault(axis, []).append(length)
        return {axis: (length,)}

    def _loop_guards(self, s: ir.For) -> _Guards:
        """Return the guards in a loop over ``range(cuda.grid(1), n, cuda.gridsize(1))``."""
        axis, length = self._axis_of(_strip_casts(s.start)), self._length(s.stop)
        is_forward = _is_nonnegative_step(s.step)
        return {axis: (length,)} if axis and length and is_forward else {}

    def _length(self, bound: ir.Expr) -> ArgumentExtent | None:
        """Return a length that is at least ``bound``, or None."""
        bound = _strip_casts(_without_constant(_strip_casts(bound), SUB))
        for _ in range(len(self._definitions)):
            if not isinstance(bound, ir.Var) or bound.name not in self._definitions:
                break
            bound = _strip_casts(_without_constant(self._definitions[bound.name], SUB))
        if isinstance(bound, ir.Var) and (
            isinstance(bound.type, Array)
            or not bound.type.dtype.is_integer
            or self._counts[bound.name] > 1
        ):
            return None
        return length_of(bound, self.kernel)

    def _axis_of(self, index: ir.Expr) -> str | None:
        """Return the axis of a grid index, or of a variable that is never less than it."""
        index = _strip_casts(index)
        if isinstance(index, ir.Var):
            return self._index_variables.get(index.name)
        return _coordinate_axis(index, _GRID)

    def _axes_in_block(self, e: ir.Expr) -> str:
        """Return the axes of the coordinates in its block that a number is computed from."""
        axes = ""
        for x in expressions(e):
            if isinstance(x, ir.Var) and x.name in self._definitions:
                axes += self._axes_in_block(self._definitions[x.name])
            elif _coordinate_axis(x, "cuda.laneid"):
                axes += "xyz"
            else:
                axes += _coordinate_axis(x, "cuda.threadIdx.") or ""
        return axes

    # ---- variables -----------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> Counter[str]:
        return assignment_counts(self.kernel)

    @cached_property
    def _definitions(self) -> dict[str, ir.Expr]:
        """The values of variables that are assigned once, from variables assigned before."""
        result: dict[str, ir.Expr] = {}
        earlier = {p.name for p in self.kernel.parameters if self._counts[p.name] == 1}
        assigned_once = single_assignments(self.kernel)
        for s in statements(self.kernel.body):
            if not isinstance(s, ir.Assign):
                continue
            names = {e.name for e in expressions(s.value) if isinstance(e, ir.Var)}
            is_acyclic = all(name in earlier or not self._counts[name] for name in names)
            if s.var.name in assigned_once and is_acyclic:
                result[s.var.name] = s.value
            earlier.add(s.var.name)
        return result

    @cached_property
    def _index_variables(self) -> dict[str, str]:
        """The axes of variables that start as a grid index, and are only increased."""
        axes: dict[str, str] = {}
        kept: Counter[str] = Counter()
        for s in statements(self.kernel.body):
            if not isinstance(s, ir.Assign):
                continue
            value = _strip_casts(s.value)
            axis = _coordinate_axis(value, _GRID)
            if axis:
                axes.setdefault(s.var.name, axis)
                kept[s.var.name] += 1
            elif _is_increased(s.var, value):
                kept[s.var.name] += 1
        return {name: axis for name, axis in axes.items() if kept[name] == self._counts[name]}


def _conjunction(a: _Guards, b: _Guards) -> _Guards:
    """Return the guards that hold if both do."""
    return {axis: (*a.get(axis, ()), *b.get(axis, ())) for axis in (*a, *b)}


def _is_visible(array: ir.Var) -> bool:
    """Return whether other blocks or the host can read an array."""
    return ir.memory_space(array) not in _HIDDEN_SPACES


def _is_visible_call(e: ir.Expr, visible_functions: frozenset[str]) -> bool:
    """Return whether a call itself has an effect outside the block."""
    if isinstance(e, ir.Call):
        return e.function in visible_functions
    if not isinstance(e, ir.Apply) or e.intrinsic.effect is not Effect.MEMORY or e.intrinsic.reads:
        return False
    changed = [a.array for a in e.arguments if isinstance(a, ir.ElementOf)]
    return any(map(_is_visible, changed)) or e.intrinsic.name.startswith("cuda.surf")


def _has_visible_effect(function: ir.Function, visible_functions: frozenset[str]) -> bool:
    return (
        inline_c_has_effect(function)
        or any(
            isinstance(s, ir.Print) or (isinstance(s, ir.Store) and _is_visible(s.array))
            for s in statements(function.body)
        )
        or any(_is_visible_call(e, visible_functions) for e in all_expressions(function.body))
    )


def _coordinate_axis(e: ir.Expr, *prefixes: str) -> str | None:
    """Return the axis of a thread coordinate: x for ``cuda.grid.x()``; None for other nodes."""
    if isinstance(e, ir.Apply) and e.intrinsic.name.startswith(prefixes):
        return e.intrinsic.name[-1]
    return None


def _is_increased(var: ir.Var, value: ir.Expr) -> bool:
    """Return whether a value is ``var`` plus the size of the grid or a nonnegative constant."""
    if not isinstance(value, ir.Binary) or value.op is not ADD:
        return False
    sides = _strip_casts(value.left), _strip_casts(value.right)
    return any(
        isinstance(a, ir.Var) and a.name == var.name and _is_nonnegative_step(b)
        for a, b in (sides, sides[::-1])
    )


def _is_nonnegative_step(e: ir.Expr) -> bool:
    """Return whether a number is the size of the grid or a nonnegative constant."""
    if isinstance(e, ir.Const):
        return _is_wide_integer(e.type) and e.value >= 0
    return _coordinate_axis(_strip_casts(e), _GRID_SIZE) is not None


def _without_constant(e: ir.Expr, op: object) -> ir.Expr:
    """Remove a nonnegative constant that is added or subtracted."""
    e = _strip_casts(e)
    if isinstance(e, ir.Binary) and e.op is op and _is_wide_integer(e.type):
        for kept, constant in ((e.left, e.right), (e.right, e.left)):
            is_constant = isinstance(constant, ir.Const) and constant.value >= 0
            if is_constant and (op is ADD or constant is e.right):
                return _strip_casts(kept)
    return e


def _strip_casts(e: ir.Expr) -> ir.Expr:
    """Remove casts to integers that hold all indices."""
    while isinstance(e, ir.Cast) and _is_wide_integer(e.type):
        e = e.operand
    return e


def _is_wide_integer(number: Type) -> bool:
    return isinstance(number, Scalar) and number.dtype.is_integer and number.dtype.size >= 4

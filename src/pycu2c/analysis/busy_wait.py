"""Detect busy-wait loops: loops that end when another thread writes memory (locks, flags)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeGuard

from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import functions_that
from pycu2c.ir.walk import all_expressions, bodies, contains, expressions, operands
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic


def polling_functions(module: ir.Module) -> frozenset[str]:
    """Return the functions that access memory by intrinsics, such as atomics and fences."""
    return functions_that(
        module.functions, lambda function, polling: _accesses_memory(function.body, polling)
    )


def may_busy_wait(s: ir.Stmt, polling: frozenset[str]) -> bool:
    """Return whether a statement is a loop that may run until another thread writes memory."""
    has_exit = isinstance(s, ir.While) or (
        isinstance(s, ir.For) and contains(s.body, ir.Break | ir.Return)
    )
    return has_exit and _accesses_memory((s,), polling)


def _accesses_memory(body: ir.Body, polling: frozenset[str]) -> bool:
    return any(
        (isinstance(e, ir.Apply) and e.intrinsic.effect is Effect.MEMORY)
        or (isinstance(e, ir.Call) and e.function in polling)
        for e in all_expressions(body)
    )


def is_busy_wait(loop: ir.For | ir.While) -> bool:
    """Return whether a loop exit depends on an atomic result, or on loads if it has a fence."""
    if not _accesses_memory((loop,), frozenset()):
        return False
    fenced = has_fence(loop)
    return _controls_exit(loop, lambda e: _is_atomic_result(e) or (fenced and _is_load(e)))


def has_fence(loop: ir.For | ir.While) -> bool:
    """Return whether a loop contains a fence."""
    applications = (e for e in all_expressions((loop,)) if isinstance(e, ir.Apply))
    return any(e.intrinsic.effect is Effect.MEMORY and not _is_atomic(e) for e in applications)


def polls_by(loop: ir.For | ir.While, intrinsic: Intrinsic) -> bool:
    """Return whether a loop exit depends on results of an intrinsic."""
    return _controls_exit(loop, lambda e: isinstance(e, ir.Apply) and e.intrinsic is intrinsic)


def polled_arrays(loop: ir.For | ir.While) -> Iterator[str]:
    """Yield the arrays of which a load, in a loop with a fence, may end the loop.

    A load is plain, or has a cache hint: ``cuda.ldcv(flags, i)``.
    """
    if has_fence(loop):
        for name in sorted({name for e in all_expressions((loop,)) for name in _loaded(e)}):
            if _controls_exit(loop, partial(_is_load_of, name)):
                yield name


def _controls_exit(loop: ir.For | ir.While, is_source: Callable[[ir.Expr], bool]) -> bool:
    """Return whether an exit of a loop depends on a source."""
    dependence = _DependenceAnalysis(is_source)
    previous_count = -1
    while previous_count != len(dependence.names) + dependence.controls_exit:
        previous_count = len(dependence.names) + dependence.controls_exit
        dependence.visit(loop.body, False, True)
    is_condition = isinstance(loop, ir.While) and dependence.depends(loop.condition)
    return is_condition or dependence.controls_exit


def _is_atomic(e: ir.Apply) -> bool:
    return any(isinstance(a, ir.ElementOf) for a in e.arguments)


def _is_atomic_result(e: ir.Expr) -> bool:
    return isinstance(e, ir.Apply) and e.intrinsic.effect is Effect.MEMORY and _is_atomic(e)


def _is_load_of(array: str, e: ir.Expr) -> bool:
    return array in _loaded(e)


def _loaded(e: ir.Expr) -> tuple[str, ...]:
    """Return the name of the array that an expression loads an element of."""
    if _is_load(e):
        return (e.array.name,)
    if isinstance(e, ir.Apply) and e.intrinsic.reads:
        return tuple(a.array.name for a in e.arguments if isinstance(a, ir.ElementOf))
    return ()


def _is_load(e: ir.Expr) -> TypeGuard[ir.Load]:
    return isinstance(e, ir.Load)


@dataclass(slots=True)
class _DependenceAnalysis:
    """Variables and arrays of a loop that depend on memory which other threads write."""

    is_source: Callable[[ir.Expr], bool]
    names: set[str] = field(default_factory=set)
    controls_exit: bool = False  # a dependent condition controls an exit of the loop

    def visit(self, body: ir.Body, controlled: bool, innermost: bool) -> bool:
        """Propagate dependence through a body; return whether a jump out of it depends.

        ``controlled``: the execution of these statements depends on such memory. ``innermost``: a
        break here leaves the analyzed loop.
        """
        jumps = False
        for s in body:
            if isinstance(s, ir.Assign | ir.Declare | ir.Store):
                if controlled or any(self.depends(e) for e in operands(s)):
                    self.names.add(s.array.name if isinstance(s, ir.Store) else s.var.name)
            elif isinstance(s, ir.BarrierWait):
                sent = (x for x in s.contributions if controlled or self.depends(x.value))
                self.names.update(x.array.name for x in sent)
            elif isinstance(s, ir.Return | ir.Break | ir.Continue):
                if isinstance(s, ir.Return) or (isinstance(s, ir.Break) and innermost):
                    self.controls_exit = self.controls_exit or controlled
                jumps = jumps or controlled
            else:
                dependent = controlled or any(self.depends(e) for e in _conditions(s))
                for inner in bodies(s):
                    if not self.visit(inner, dependent, innermost and isinstance(s, ir.If)):
                        continue
                    if isinstance(s, ir.If):
                        jumps = True
                    else:  # the number of its iterations depends
                        self.visit(inner, True, False)
            controlled = controlled or jumps
        return jumps

    def depends(self, e: ir.Expr) -> bool:
        return any(
            self.is_source(x)
            or (isinstance(x, ir.Var) and x.name in self.names)
            or (isinstance(x, ir.Load) and x.array.name in self.names)
            for x in expressions(e)
        )


def _conditions(s: ir.Stmt) -> Iterator[ir.Expr]:
    if isinstance(s, ir.If | ir.While | ir.For):
        yield from operands(s)

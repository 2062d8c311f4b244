"""Check that variables and local arrays are assigned before they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.base.dtypes import BOOL
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.checks.bounds import python_name
from pycu2c.checks.context import CheckContext, Guard, or_record
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import const, integer, truth
from pycu2c.ir.walk import all_expressions, statements


class InitializationChecks:
    """Records which variables of a function, and which elements of its local arrays, have values.

    A local array has an array of flags. One that is passed to functions is not checked.
    """

    def __init__(self, context: CheckContext) -> None:
        self._context = context
        self._unassigned: frozenset[str] = frozenset()
        self._flags: dict[str, ir.Var] = {}
        if "init" in context.groups:
            self._flags = dict(_flag_arrays(context.function))
            parameters = {p.name for p in context.function.parameters}
            assigned = {
                s.var.name
                for s in statements(context.function.body)
                if isinstance(s, ir.Assign | ir.For)
            }
            exposed = upward_exposed_reads(context.function.body)
            of_program = (name for name in exposed & assigned if not is_temporary(name))
            self._unassigned = frozenset(of_program) - parameters

    def at_entry(self) -> ir.Body:
        """Return the statements at the start of the function."""
        span = self._context.function.span
        unassigned = (_mark(name, False, span) for name in sorted(self._unassigned))
        cleared = (s for flags in self._flags.values() for s in _cleared(flags))
        return (*unassigned, *cleared)

    def after(self, s: ir.Stmt) -> ir.Body:
        """Return a statement, and what records that it has assigned a variable."""
        if isinstance(s, ir.Assign) and s.var.name in self._unassigned:
            return s, _mark(s.var.name, True, s.span)
        if isinstance(s, ir.For) and s.var.name in self._unassigned:
            mark = _mark(s.var.name, True, s.span)
            return (ir.For(s.var, s.start, s.stop, s.step, (mark, *s.body), s.span),)
        return (s,)

    def is_checked(self, array: ir.Var) -> bool:
        return array.name in self._flags

    def guard_load(self, e: ir.Load) -> Guard:
        """Return the guard of a read of a local array."""
        if not self.is_checked(e.array):
            return Guard()
        values = {f"index{axis}": index for axis, index in enumerate(e.indices)}
        name = python_name(e.array.name)
        failure = self._context.failure("uninitialized", e.span, name, values)
        flag = ir.Load(self._flags[e.array.name], e.indices, e.span)
        return Guard((), or_record(truth(flag), failure), skips=False)

    def after_store(self, s: ir.Store) -> ir.Body:
        """Return a write, and what records that an element of a local array has a value."""
        if not self.is_checked(s.array):
            return (s,)
        flags = self._flags[s.array.name]
        return s, ir.Store(flags, s.indices, const(True, s.span, _FLAG), s.span)

    def variable(self, e: ir.Var) -> ir.Expr:
        """Return a read of a variable, guarded if it may be unassigned."""
        if e.name not in self._unassigned:
            return e
        failure = self._context.failure("uninitialized", e.span, python_name(e.name), {})
        return Guard((), or_record(_flag(e.name, e), failure), skips=False).expression(e)


_FLAG = Scalar(BOOL)


def _flag_arrays(function: ir.Function) -> Iterator[tuple[str, ir.Var]]:
    """Yield the local arrays that are checked, with the variables of their flags."""
    expressions = list(all_expressions(function.body))
    passed = {a.name for e in expressions if isinstance(e, ir.Call) for a in _arrays(e.arguments)}
    passed |= {e.array.name for e in expressions if isinstance(e, ir.ElementOf | ir.View)}
    for s in statements(function.body):
        if not isinstance(s, ir.Allocate) or not isinstance(s.var.type, Array):
            continue
        kind = s.var.type
        if kind.space is MemorySpace.LOCAL and kind.shape and s.var.name not in passed:
            yield s.var.name, ir.Var(f"{s.var.name}.flags", replace(kind, dtype=BOOL), s.span)


def _arrays(arguments: Sequence[ir.Expr]) -> Iterator[ir.Var]:
    return (a for a in arguments if isinstance(a, ir.Var) and isinstance(a.type, Array))


def _cleared(flags: ir.Var) -> ir.Body:
    """Allocate an array of flags and set them to False."""
    assert isinstance(flags.type, Array)
    assert flags.type.shape is not None
    span, index = flags.span, ir.Var(f"{flags.name}.index", WEAK_INT, flags.span)
    store = ir.Store(flags, (index,), const(False, span, _FLAG), span)
    zero, one, size = (integer(n, span) for n in (0, 1, math.prod(flags.type.shape)))
    return ir.Allocate(flags, span), ir.For(index, zero, size, one, (store,), span)


def is_temporary(name: str) -> bool:
    """Return whether the front end made a variable: ``chosen.t1``."""
    return any(re.fullmatch(r"t\d+", suffix) for suffix in name.split(".")[1:])


def _flag(name: str, e: ir.Expr) -> ir.Var:
    return ir.Var(f"{name}.assigned", WEAK_BOOL, e.span)


def _mark(name: str, assigned: bool, span: Span) -> ir.Stmt:
    return ir.Assign(ir.Var(f"{name}.assigned", WEAK_BOOL, span), const(assigned, span), span)

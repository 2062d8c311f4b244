"""Check that variables are assigned before they are read."""

from __future__ import annotations

import math
import re

from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.checks.context import CheckContext, Guard, or_record
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import array_type, const, integer
from pycu2c.ir.name_suffixes import source_name
from pycu2c.ir.walk import statements


class InitializationChecks:
    """Records which variables of a function have values."""

    def __init__(self, context: CheckContext) -> None:
        self._context = context
        self._unassigned: frozenset[str] = frozenset()
        if "init" in context.groups:
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
        return tuple(_mark(name, False, span) for name in sorted(self._unassigned))

    def after(self, s: ir.Stmt) -> ir.Body:
        """Return a statement, and what records that it has assigned a variable."""
        if isinstance(s, ir.Assign) and s.var.name in self._unassigned:
            return s, _mark(s.var.name, True, s.span)
        if isinstance(s, ir.For) and s.var.name in self._unassigned:
            mark = _mark(s.var.name, True, s.span)
            return (ir.For(s.var, s.start, s.stop, s.step, (mark, *s.body), s.span),)
        return (s,)

    def variable(self, e: ir.Var) -> ir.Expr:
        """Return a read of a variable, guarded if it may be unassigned."""
        if e.name not in self._unassigned:
            return e
        failure = self._context.failure("uninitialized", e.span, source_name(e.name), {})
        return Guard((), or_record(_flag(e.name, e), failure), predicated=False).expression(e)


def cleared(flags: ir.Var, span: Span) -> ir.Body:
    """Allocate a local array and clear it, at the start of the function at ``span``."""
    kind = array_type(flags)
    assert kind.shape is not None
    index = ir.Var(f"{flags.name}.index", WEAK_INT, span)
    store = ir.Store(flags, (index,), const(0, span, Scalar(kind.dtype)), span)
    zero, one, size = (integer(n, span) for n in (0, 1, math.prod(kind.shape)))
    return ir.Allocate(flags, span), ir.For(index, zero, size, one, (store,), span)


def is_temporary(name: str) -> bool:
    """Return whether the front end made a variable: ``chosen.t1``."""
    return any(re.fullmatch(r"t\d+", suffix) for suffix in name.split(".")[1:])


def _flag(name: str, e: ir.Expr) -> ir.Var:
    return ir.Var(f"{name}.assigned", WEAK_BOOL, e.span)


def _mark(name: str, assigned: bool, span: Span) -> ir.Stmt:
    return ir.Assign(ir.Var(f"{name}.assigned", WEAK_BOOL, span), const(assigned, span), span)

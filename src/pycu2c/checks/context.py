"""What the checks of one function share: ranges, check sites, and guards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.hidden_arrays import FINDINGS, OWN_COUNT, device_call
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, integer, is_atom, logical, scalar_type, zero
from pycu2c.ops.operators import Operator
from pycu2c.runtime.findings import CheckKind

Bindings: TypeAlias = tuple[tuple[ir.Var, ir.Expr], ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """Variables, to be assigned in order, and a condition on them; None if it always holds.

    The condition records a finding if it does not hold. predicated: whether what is guarded is then
    left out.
    """

    bindings: Bindings = ()
    condition: ir.Expr | None = None
    predicated: bool = True

    def expression(self, guarded: ir.Expr) -> ir.Expr:
        """Return the expression; 0 where the guard leaves it out."""
        result = guarded
        if self.condition is not None and self.predicated:
            kind, otherwise = scalar_type(guarded), zero(scalar_type(guarded), guarded.span)
            result = ir.Select(self.condition, guarded, otherwise, kind, guarded.span)
        elif self.condition is not None:
            result = ir.Let("checked.let", self.condition, guarded, guarded.span)
        for var, value in reversed(self.bindings):
            result = ir.Let(var.name, value, result, guarded.span)
        return result

    def statements(self, guarded: ir.Body, span: Span) -> ir.Body:
        """Return the statements, which the guard may leave out."""
        assignments = tuple(ir.Assign(var, value, value.span) for var, value in self.bindings)
        if self.condition is None:
            return (*assignments, *guarded)
        if self.predicated:
            return (*assignments, ir.If(self.condition, guarded, (), span))
        checked = ir.Assign(ir.Var("checked.check", WEAK_BOOL, span), self.condition, span)
        return (*assignments, checked, *guarded)


@dataclass(slots=True)
class CheckContext:
    """One function, and what its checks need.

    ranges: of its integers, which prove that checks are not needed. sites: the check sites of the
    kernel, in the order of their rows in the array of findings. calls: the calls that lead to the
    function. wraparound: whether an index may be negative, and counts from the end.
    has_partial_warp: whether the last warp of a block may have fewer than 32 lanes.
    """

    function: ir.Function
    ranges: Ranges
    sites: list[CheckSite]
    groups: frozenset[CheckGroup]
    calls: tuple[Span, ...]
    wraparound: bool
    has_partial_warp: bool = True
    _variable_count: int = 0

    def bind(self, e: ir.Expr, hint: str) -> tuple[ir.Expr, Bindings]:
        """Return an atom with the value of an expression, and the binding that it needs."""
        if is_atom(e):
            return e, ()
        var = self.variable(hint, scalar_type(e), e.span)
        return var, ((var, e),)

    def variable(self, hint: str, kind: Scalar, span: Span) -> ir.Var:
        self._variable_count += 1
        return ir.Var(f"{hint}.check{self._variable_count}", kind, span)

    def failure(
        self,
        kind: CheckKind,
        span: Span,
        subject: str,
        values: Mapping[str, ir.Expr],
        *detail: str,
    ) -> ir.Expr:
        """Return the call that records a finding at a new site; its result is False.

        detail: the access and the field of the site, if it has them.
        """
        numbers = (cast(value, WEAK_INT) for value in values.values())
        arguments = FINDINGS, OWN_COUNT, integer(len(self.sites), span), *numbers
        self.sites.append(CheckSite(kind, span, subject, self.calls, tuple(values), *detail))
        return device_call(f"record.{len(values)}", span, *arguments)


def or_record(condition: ir.Expr, failure: ir.Expr) -> ir.Expr:
    """Return a condition that records a finding where it does not hold."""
    return ir.Logical(ir.LogicalOp.OR, condition, failure, condition.span)


def all_of(conditions: Sequence[ir.Expr], op: ir.LogicalOp = ir.LogicalOp.AND) -> ir.Expr:
    """Return the conjunction of conditions, of which there is at least one."""
    return reduce(lambda a, b: logical(op, a, b, b.span), conditions)


def any_of(conditions: Sequence[ir.Expr]) -> ir.Expr:
    return all_of(conditions, ir.LogicalOp.OR)


def compare(op: Operator, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Return a comparison of two numbers of one type."""
    return ir.Binary(op, left, right, WEAK_BOOL, left.span)

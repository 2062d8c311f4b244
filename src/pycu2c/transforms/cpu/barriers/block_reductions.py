"""Sums of what threads give each other, as loops of the block: over elements that are set before,
so that threads that do not come add nothing. Such loops vectorise."""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.ir.builders import binary, const
from pycu2c.ir.nodes import Body, Expr, For, Load, Store, Var
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.operators import ADD, MUL


def parts_of(sums: Var, threads: int) -> Var:
    """An array for what each thread adds to one of the sums: whole warps of a block."""
    kind = sums.type
    assert isinstance(kind, Array)
    count = -(-threads // WARP) * WARP
    base, _, rest = sums.name.partition(".")
    return replace(sums, name=f"{base}_each.{rest}", type=replace(kind, shape=(count,)))


def cleared(array: Var, span: Span) -> Body:
    """Each element set to 0."""
    number = Var(f"each.{array.name}", WEAK_INT, span)
    return (_loop(number, const(0, span), _length(array), (_zero(array, number, span),)),)


def summed(sums: Var, parts: Var, span: Span) -> Body:
    """Each sum made of its parts, which follow each other."""
    share = _length(parts) // _length(sums)
    number = Var(f"sum.{sums.name}", WEAK_INT, span)
    part = Var(f"each.{parts.name}", WEAK_INT, span)
    total = binary(ADD, Load(sums, (number,), span), Load(parts, (part,), span), span)
    first = binary(MUL, number, const(share, span), span)
    inner = _loop(part, first, share, (Store(sums, (number,), total, span),))
    body = (_zero(sums, number, span), inner)
    return (_loop(number, const(0, span), _length(sums), body),)


def _zero(array: Var, number: Var, span: Span) -> Store:
    assert isinstance(array.type, Array)
    return Store(array, (number,), const(0, span, array.type.element), span)


def _loop(number: Var, start: Expr, count: int, body: Body) -> For:
    span = number.span
    stop = binary(ADD, start, const(count, span), span)
    return For(number, start, stop, const(1, span), body, span)


def _length(array: Var) -> int:
    assert isinstance(array.type, Array)
    assert array.type.shape is not None
    return array.type.shape[0]

"""Whether threads may run statement by statement together, as ``#pragma omp simd`` has it.

Threads of a valid program do not race, so each may run beside the others. These stay in order:

- what has an effect: atomics, prints, and device functions that have one;
- arrays of a thread's own, and stores at a place that is the same for all;
- what the compiler itself lets threads gather in one slot, as the bits of a ballot;
- memory that a thread comes back to. gcc collects accesses with gaps, ``a[3 * i]`` and
  ``a[3 * i + 1]``, into one; under the pragma it does so across an access that may be to the
  same place. So where a store is followed by an access that it may touch, both must be without
  gaps, or to the same place but for a number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Set

from pycu2c.analysis.live_across_barriers import set_once
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Space
from pycu2c.ir import printer
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Const,
    ElementOf,
    Expr,
    For,
    Load,
    Print,
    Stmt,
    Store,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands, statements
from pycu2c.ops.operators import ADD, MUL, SUB

_IRREGULAR = object()  # not a multiple of the axis: each thread goes somewhere by itself


def in_lockstep(axis: Var, body: Body, effectful: Set[str]) -> bool:
    """Whether threads along an axis may run a body together."""
    if any(isinstance(s, Print | Allocate) for s in statements(body)):
        return False
    for e in all_expressions(body):
        if isinstance(e, Apply) and not e.intrinsic.is_pure:
            return False
        if isinstance(e, Call) and e.function in effectful:
            return False
    paces = Paces(axis.name, set_once(body), _assigned(body))
    accesses = list(_accesses(body, paces))
    if any(a.writes and a.pace == 0 for a in accesses) or _gathers(body, paces):
        return False
    return not any(
        a.writes and not (a.smooth and b.smooth) and _may_meet(a, b)
        for i, a in enumerate(accesses)
        for b in accesses[i + 1 :]
    )


def _gathers(body: Body, paces: Paces) -> bool:
    """Whether threads add to one slot of the block, where valid programs have no such race."""
    stores = (s for s in statements(body) if isinstance(s, Store))
    slots = (s for s in stores if _space(s.array) is Space.BLOCK)
    return any(paces.of(s.indices[0]) is _IRREGULAR for s in slots)


def _assigned(body: Body) -> set[str]:
    return {s.var.name for s in statements(body) if isinstance(s, Assign)}


# ---- how fast an index moves from one thread to the next ----------------------------------------


@dataclass(frozen=True, slots=True)
class Paces:
    axis: str
    values: Mapping[str, Expr]
    changing: Set[str]

    def of(self, e: Expr) -> object:
        """A number; None if it is one that is not known; or irregular."""
        match e:
            case Var(name=name):
                return self._variable(name)
            case Const():
                return 0
            case Cast(operand=operand):
                return self.of(operand)
            case Binary(op=op, left=left, right=right) if op in (ADD, SUB):
                a, b = self.of(left), self.of(right)
                if isinstance(a, int) and isinstance(b, int):
                    return a + b if op is ADD else a - b
                return _IRREGULAR if _IRREGULAR in (a, b) else None
            case Binary(op=op, left=left, right=right) if op is MUL:
                return self._product(left, right)
            case _:
                parts = [self.of(x) for x in expressions(e) if isinstance(x, Var)]
                return 0 if all(p == 0 for p in parts) else _IRREGULAR

    def _variable(self, name: str) -> object:
        if name == self.axis:
            return 1
        if name in self.values:
            return self.of(self.values[name])
        return _IRREGULAR if name in self.changing else 0

    def _product(self, left: Expr, right: Expr) -> object:
        a, b = self.of(left), self.of(right)
        if a == 0 and b == 0:
            return 0
        if a is None or b is None:
            return None
        for pace, factor, still in ((a, right, b), (b, left, a)):
            if still == 0 and isinstance(pace, int):
                return pace * int(factor.value) if isinstance(factor, Const) else None
        return _IRREGULAR


# ---- accesses to memory ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Access:
    """``place`` tells its indices but for the numbers added to the last one."""

    array: Var | None  # None stands for any
    place: Callable[[], str]
    pace: object
    writes: bool

    @property
    def smooth(self) -> bool:
        """Whether gcc has no reason to move it: neighbours follow each other, or it is alone."""
        return self.pace in (0, 1) or self.pace is _IRREGULAR


def _may_meet(a: _Access, b: _Access) -> bool:
    """Whether two accesses may be to one place, and it is not plain whether they are."""
    if a.array is None or b.array is None:
        return True
    if a.array.name == b.array.name:
        return a.place() != b.place()
    return _space(a.array) is Space.GLOBAL and _space(b.array) is Space.GLOBAL


def _space(array: Var) -> Space:
    assert isinstance(array.type, Array)
    return array.type.space


def _accesses(body: Body, paces: Paces) -> Iterator[_Access]:
    """In the order of a thread; what stands in a loop comes twice."""
    for s in body:
        found = list(_of_statement(s, paces))
        yield from found
        if isinstance(s, For | While):
            yield from found


def _of_statement(s: Stmt, paces: Paces) -> Iterator[_Access]:
    for value in operands(s):
        for e in expressions(value):
            match e:
                case Load() | ElementOf():
                    yield _access(e.array, e.indices, paces, isinstance(e, ElementOf))
                case Call() if any(isinstance(a.type, Array) for a in e.arguments):
                    yield _Access(None, str, None, False)
                case _:
                    pass
    if isinstance(s, Store):
        yield _access(s.array, s.indices, paces, True)
    for inner in bodies(s):
        yield from _accesses(inner, paces)


def _access(array: Var, indices: tuple[Expr, ...], paces: Paces, writes: bool) -> _Access:
    assert isinstance(array.type, Array)
    moves = [paces.of(i) for i in indices]
    pace: object = moves[-1] if moves else 0
    if any(m != 0 for m in moves[:-1]):
        pace = None if _IRREGULAR not in moves else _IRREGULAR
    if array.type.dtype.fields and pace == 1:
        pace = None  # the fields of neighbouring records have gaps
    *outer, last = indices or (None,)
    kept = [*outer, _without_number(last)] if last else outer
    place = functools.cache(lambda: ", ".join(printer.print_expr(i) for i in kept))
    return _Access(array, place, pace, writes)


def _without_number(e: Expr) -> Expr:
    if isinstance(e, Binary) and e.op in (ADD, SUB) and isinstance(e.right, Const):
        return _without_number(e.left)
    return e

"""CPU: a loop in which neighbouring threads take neighbouring numbers, in steps of the block or of
the grid, is put outside of the threads: memory is then walked along, not in strides.

``for i in range(first + threadIdx.x, n, step): a`` ->
``for i.first in range(first, n, step): i = i.first + threadIdx.x; if i < n: a``

A condition that single threads tell, such as ``if row < n``, goes inside of such a loop:

``if c: a; for …: b`` -> ``if c: a`` ``for i.first in …: i = …; if c and i < n: b``

Each thread keeps its own order. What other threads do between its steps is up to them in every
program without races; a program that looks at the order is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Set
from typing import Literal

from pycu2c.analysis import warp_index
from pycu2c.analysis.effects import names_in
from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.uniformity import Uniformity
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.ir.builders import binary, integer, logical
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    BarrierWait,
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    LogicalOp,
    Print,
    Return,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, bodies, children, statements, with_bodies
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.coordinates import GRID, GRIDSIZE, PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.ops.operators import ADD, LT, MUL
from pycu2c.transforms.cpu.fission.guarded_regions import GuardedRegions

NameGenerator = Callable[[str], str]


def interchange_loops(
    body: Body, agreement: Uniformity, facts: Facts, effectful: Set[str], fresh: NameGenerator
) -> tuple[Body, frozenset[Stmt]]:
    """A kernel's body, and its loops that are to stand outside of the threads. ``effectful``: the
    device functions that do more than give a value."""
    if any(isinstance(s, Print) for s in statements(body)):
        return body, frozenset()  # what threads print comes in their order
    declared = Counter(s.var.name for s in statements(body) if isinstance(s, Declare | Allocate))
    turning = _Interchange(facts, agreement, _lasting(body), declared, effectful, fresh)
    return turning.block(body), frozenset(turning.made)


def _lasting(body: Body) -> dict[str, Expr]:
    """The variables that are set once, and to what is the same as long as they are there."""
    changed = {s.var.name for s in statements(body) if isinstance(s, Assign)}
    declared = [s for s in statements(body) if isinstance(s, Declare)]
    return {
        s.var.name: s.init
        for s in declared
        if s.init and not changed & {s.var.name, *names_in(s.init)}
    }


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a thread begins: a number of the block, and the thread's own place: along x, in the
    whole block, or in its warp."""

    common: Expr | None
    place: Expr
    among: Literal["row", "block", "warp"]


@dataclass(slots=True)
class _Interchange:
    facts: Facts
    agreement: Uniformity
    values: Mapping[str, Expr]  # of variables that stand for them
    declared: Mapping[str, int]  # how often
    effectful: Set[str]
    fresh: NameGenerator
    made: set[Stmt] = field(default_factory=set)

    def block(self, body: Body) -> Body:
        """A block to which all running threads come together."""
        return tuple(done for s in body for done in self._statement(s))

    def _statement(self, s: Stmt) -> Body:
        if isinstance(s, For) and (start := self._turnable(s)):
            return (self._turned(s, start),)
        if isinstance(s, If | While | For) and s not in self.agreement.divergent:
            return (with_bodies(s, tuple(self.block(b) for b in bodies(s))),)
        if isinstance(s, If) and not s.orelse:
            return self._under(s)
        return (s,)

    def _turnable(self, s: For) -> _Start | None:
        return self._start(s) if self._has_no_order(s.body) else None

    # ---- loops under a condition ----------------------------------------------------------------

    def _under(self, s: If) -> Body:
        """The parts of a block, each under its condition; its loops outside of the threads."""
        parts = GuardedRegions.of(s)
        own = [x.var.name for x in s.then if isinstance(x, Declare | Allocate)]
        if not parts.is_steady(s.condition) or not self._follows_from_places(s.condition):
            return (s,)  # in the second case few threads may meet it
        if any(self.declared[name] > 1 for name in own):
            return (s,)
        turned = False
        for inner in s.then:
            start = self._turnable(inner) if isinstance(inner, For) else None
            if isinstance(inner, For) and start and parts.is_steady(*_course(inner, start)):
                parts.close()
                parts.done.append(self._turned(inner, start, s.condition))
                turned = True
            else:
                parts.add(inner)
        parts.close()
        return (*parts.declared, *parts.done) if turned else (s,)

    def _follows_from_places(self, e: Expr) -> bool:
        """Whether where a thread stands says what it computes, whatever lies in memory."""
        match e:
            case Var(name) if name in self.values and not self.agreement.agrees(e):
                return self._follows_from_places(self.values[name])
            case Var() | Load():
                return self.agreement.agrees(e)
            case _:
                return all(map(self._follows_from_places, children(e)))

    # ---- one loop -------------------------------------------------------------------------------

    def _turned(self, s: For, start: _Start, condition: Expr | None = None) -> Stmt:
        first = Var(self.fresh(f"{s.var.name}.first"), s.var.type, s.var.span)
        mine = Declare(s.var, binary(ADD, first, start.place, s.span), s.span)
        goes_on = binary(LT, s.var, s.stop, s.span)
        if condition is not None:
            goes_on = logical(LogicalOp.AND, condition, goes_on, s.span)
        inside = If(goes_on, s.body, (), s.span)
        common = start.common or integer(0, s.span)
        turned = For(first, common, s.stop, s.step, (mine, inside), s.span)
        self.made.add(turned)
        return turned

    def _has_no_order(self, body: Body) -> bool:
        """Whether nobody can tell in which order threads run a body, and they run all of it."""
        jumps = (Return, BarrierWait, Print)
        if _leaves(body) or any(isinstance(s, jumps) for s in statements(body)):
            return False
        unused = {id(s.value) for s in statements(body) if isinstance(s, Evaluate)}
        for e in all_expressions(body):
            if isinstance(e, Call) and e.function in self.effectful:
                return False
            if isinstance(e, Apply) and not e.intrinsic.is_pure:
                if id(e) not in unused or not e.arguments:
                    return False
        return True

    # ---- where threads begin --------------------------------------------------------------------

    def _start(self, s: For) -> _Start | None:
        """Where they do, if all stop and go on alike, and none comes to where another began."""
        if s.var.type != WEAK_INT or not self.agreement.agrees(s.stop, s.step):
            return None
        start = self._parted(s.start)
        return start if start and self._leads_over(s.step, start.among) else None

    def _parted(self, e: Expr) -> _Start | None:
        e = self._value(e)
        match e:
            case Apply() if e.type == WEAK_INT:
                return self._place(e)
            case Binary() if warp_index.is_lane(e):
                return (
                    _Start(None, e, "warp") if warp_index.is_multiple_of_warp(self.facts) else None
                )
            case Binary(op, left, right) if op is ADD and e.type == WEAK_INT:
                for one, other in ((left, right), (right, left)):
                    found = self._parted(one) if self.agreement.agrees(other) else None
                    if found:
                        common = found.common
                        logical = binary(ADD, common, other, e.span) if common else other
                        return replace(found, common=logical)
        return None

    def _place(self, e: Apply) -> _Start | None:
        """Neighbours follow each other along x alone."""
        if e.intrinsic is block_thread:
            return _Start(None, e, "block")
        if e.intrinsic is PLACES["threadIdx", "x"]:
            return _Start(None, e, "row")
        if e.intrinsic is not GRID[0]:
            return None
        block = Apply(PLACES["blockIdx", "x"], (), WEAK_INT, e.span)
        place = Apply(PLACES["threadIdx", "x"], (), WEAK_INT, e.span)
        return _Start(binary(MUL, block, self._width(e.span), e.span), place, "row")

    def _value(self, e: Expr) -> Expr:
        """What a variable stands for."""
        while isinstance(e, Var) and e.name in self.values:
            e = self.values[e.name]
        return e

    def _width(self, span: Span) -> Expr:
        if self.facts.block is not None:
            return integer(self.facts.block[0], span)
        return Apply(PLACES["blockDim", "x"], (), WEAK_INT, span)

    def _leads_over(self, step: Expr, among: str) -> bool:
        """Whether a step is as long as all places together."""
        step, block = self._value(step), self.facts.block
        match step:
            case Const():
                if block is None:
                    return False
                counts = {"row": block[0], "block": self.facts.threads, "warp": WARP}
                return step.value >= counts[among] > 1
            case Apply(intrinsic=row):
                return among == "row" and row in (PLACES["blockDim", "x"], GRIDSIZE[0])
            case Binary(op, left, right) if op is MUL:
                pairs = ((left, right), (right, left))
                return any(self._leads_over(a, among) and self._is_positive(b) for a, b in pairs)
            case _:
                return False

    def _is_positive(self, e: Expr) -> bool:
        e = self._value(e)
        if isinstance(e, Apply):
            bounds = self.facts.bounds(e.intrinsic)
            return bounds is not None and bounds.low > 0
        return isinstance(e, Const) and e.value > 0


def _course(s: For, start: _Start) -> list[Expr]:
    """What says how a loop goes."""
    return [e for e in (start.common, s.stop, s.step) if e is not None]


def _leaves(body: Body) -> bool:
    """Whether a block leaves the loop that it is the body of, or goes on with its next step."""
    for s in body:
        if isinstance(s, Break | Continue):
            return True
        if not isinstance(s, While | For) and any(_leaves(b) for b in bodies(s)):
            return True
    return False

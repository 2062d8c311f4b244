"""Interchange the loop over threads with inner loops that stride by the block or the grid (CPU).

``for i in range(first + threadIdx.x, n, step): a`` -> ``for i.first in range(first, n, step): i =
i.first + threadIdx.x; if i < n: a``

In a loop over rows, ``for i in range(1, n): x[i, s] -= x[i - 1, s]``, all threads run the same
iterations, and the loop over threads moves inside.

Memory is then accessed sequentially instead of in strides. A divergent condition such as ``if row <
n`` moves into the loop: ``if c: a; for …: b`` -> ``if c: a`` ``for i.first in …: i = …; if c and i
< n: b``. Each thread keeps its own order of operations. The order between threads is unspecified in
race-free programs; programs that observe it are not changed. Uses ``analysis.uniformity``. Requires
the form DECLARED (``ir/forms.py``); loops that it marks as ``interchanged`` stay outside the
work-item loops. Reference: Allen and Kennedy, "Automatic loop interchange" (1984).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import Literal

from pycu2c.analysis import warp_index
from pycu2c.analysis.effects import is_speculatable
from pycu2c.analysis.launch_ranges import intrinsic_range
from pycu2c.analysis.row_loops import is_row_loop
from pycu2c.analysis.uniformity import Uniformity
from pycu2c.analysis.variables import (
    NameGenerator,
    assigned_names,
    fresh_names,
    names_in,
    single_definitions,
)
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, integer, logical
from pycu2c.ir.name_suffixes import FIRST
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.coordinates import COORDINATES, GRID, GRIDSIZE
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import ADD, LT, MUL

_MIN_ROW = 16  # threads along x that access neighbouring elements, a cache line of float32


def interchange_loops(
    module: ir.Module, assumptions: LaunchAssumptions, uniformity: Uniformity, effectful: Set[str]
) -> ir.Module:
    """Interchange loops of the kernel; mark them, as they must be outside the work-item loops.

    ``effectful``: the device functions with side effects.
    """
    body = module.kernel.body
    if walk.contains(body, ir.Print):
        return module  # printed output is in thread order
    declaration_counts = Counter(
        s.var.name for s in walk.statements(body) if isinstance(s, ir.Declare | ir.Allocate)
    )
    fresh = fresh_names(module.kernel)
    interchange = _Interchange(
        assumptions,
        uniformity,
        _invariant_definitions(body),
        declaration_counts,
        effectful,
        fresh,
    )
    interchange.find_row_loops(body)
    new_body = interchange.block(body)
    if not interchange.has_interchanged:
        return module
    return walk.with_kernel_body(module, new_body)


def _invariant_definitions(body: ir.Body) -> dict[str, ir.Expr]:
    """Return the variables with one definition whose operands never change."""
    changed = assigned_names(body)
    definitions = single_definitions(body).items()
    return {name: value for name, value in definitions if not changed & set(names_in(value))}


@dataclass(frozen=True, slots=True)
class _Start:
    """First index of a thread: a uniform part plus an offset in the row, block or warp.

    A row consists of the threads of a block with the same threadIdx.y and threadIdx.z.
    """

    uniform_part: ir.Expr | None
    offset: ir.Expr
    scope: Literal["row", "block", "warp"]


@dataclass(slots=True)
class _Interchange:
    assumptions: LaunchAssumptions
    uniformity: Uniformity
    values: Mapping[str, ir.Expr]  # invariant definitions, by variable
    declaration_counts: Mapping[str, int]  # number of declarations, by name
    effectful: Set[str]
    fresh: NameGenerator
    row_loops: Set[ir.Stmt] = frozenset()
    has_interchanged: bool = False

    def block(self, body: ir.Body) -> ir.Body:
        """Process a body that all running threads reach."""
        return tuple(new for s in body for new in self._statement(s))

    def _statement(self, s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.For) and (start := self._interchange_start(s)):
            return (self._interchange(s, start),)
        if isinstance(s, ir.For) and s in self.row_loops:
            return (self._with_threads_inside(s),)
        if isinstance(s, ir.If | ir.While | ir.For) and s not in self.uniformity.divergent:
            return (walk.map_bodies(s, self.block),)
        if isinstance(s, ir.If) and not s.orelse:
            return self._split_guarded(s)
        return (s,)

    def _interchange_start(self, s: ir.For) -> _Start | None:
        return self._thread_start(s) if self._is_order_independent(s.body) else None

    # ---- loops under a condition ----------------------------------------------------------------

    def _split_guarded(self, s: ir.If) -> ir.Body:
        """Split a guarded body; its interchanged loops move outside the condition."""
        regions = SplitConditional.empty(s)
        local_names = [x.var.name for x in s.then if isinstance(x, ir.Declare | ir.Allocate)]
        if not regions.is_invariant(s.condition) or not self._depends_on_index_only(s.condition):
            return (s,)  # few threads may satisfy a condition on data, and all would test it
        if any(self.declaration_counts[name] > 1 for name in local_names):
            return (s,)
        was_interchanged = False
        for inner in s.then:
            start = self._interchange_start(inner) if isinstance(inner, ir.For) else None
            if (
                isinstance(inner, ir.For)
                and start
                and regions.is_invariant(*_loop_control(inner, start))
            ):
                regions.end_part()
                regions.parts.append(self._interchange(inner, start, s.condition))
                was_interchanged = True
            elif (
                isinstance(inner, ir.For)
                and inner in self.row_loops
                and regions.is_invariant(inner.start, inner.stop, inner.step)
            ):
                regions.end_part()
                regions.parts.append(self._with_threads_inside(inner, s.condition))
                was_interchanged = True
            else:
                regions.add(inner)
        regions.end_part()
        return (*regions.declared, *regions.parts) if was_interchanged else (s,)

    def _depends_on_index_only(self, e: ir.Expr) -> bool:
        """Return whether only the thread index and uniform values determine an expression."""
        match e:
            case ir.Var(name) if name in self.values and not self.uniformity.agrees(e):
                return self._depends_on_index_only(self.values[name])
            case ir.Var() | ir.Load():
                return self.uniformity.agrees(e)
            case _:
                return all(map(self._depends_on_index_only, walk.children(e)))

    # ---- one loop -------------------------------------------------------------------------------

    def _interchange(self, s: ir.For, start: _Start, condition: ir.Expr | None = None) -> ir.Stmt:
        first = ir.Var(self.fresh(f"{s.var.name}.{FIRST}"), s.var.type, s.var.span)
        declare_counter = ir.Declare(s.var, binary(ADD, first, start.offset, s.span), s.span)
        in_range = binary(LT, s.var, s.stop, s.span)
        if condition is not None:
            in_range = logical(ir.LogicalOp.AND, condition, in_range, s.span)
        guarded_body = ir.If(in_range, s.body, (), s.span)
        uniform_part = start.uniform_part or integer(0, s.span)
        self.has_interchanged = True
        return ir.For(
            first,
            uniform_part,
            s.stop,
            s.step,
            (declare_counter, guarded_body),
            s.span,
            interchanged=True,
        )

    def find_row_loops(self, body: ir.Body) -> None:
        """Find the loops over rows of a kernel in which threads keep no values outside of them."""
        block = self.assumptions.block
        if block is None or block[0] < _MIN_ROW:
            return
        found = {
            s
            for s in walk.statements(body)
            if isinstance(s, ir.For)
            and self._is_order_independent(s.body)
            and is_row_loop(s, self.uniformity, self.values)
        }
        inside = {id(s) for loop in found for s in walk.statements(loop.body)}
        outside = (s for s in walk.statements(body) if id(s) not in inside)
        if not any(map(self._is_kept_by_threads, outside)):
            self.row_loops = found

    def _is_kept_by_threads(self, s: ir.Stmt) -> bool:
        """Return whether a statement declares a value that would be an array over the threads."""
        return isinstance(s, ir.Declare) and not (
            self.uniformity.agrees(s.var)
            or (s.var.name in self.values and self._depends_on_index_only(s.var))
        )

    def _with_threads_inside(self, s: ir.For, condition: ir.Expr | None = None) -> ir.Stmt:
        """Return a loop with the same iterations for all threads, outside of that over threads."""
        body = s.body if condition is None else (ir.If(condition, s.body, (), s.span),)
        self.has_interchanged = True
        return replace(s, body=body, interchanged=True)

    def _is_order_independent(self, body: ir.Body) -> bool:
        """Return whether the order of threads in a body is unobservable, and it has no exits."""
        jumps = (ir.Return, ir.BarrierWait, ir.Print)
        if any(walk.loop_jumps(body)) or any(isinstance(s, jumps) for s in walk.statements(body)):
            return False
        unused_results = {id(s.value) for s in walk.statements(body) if isinstance(s, ir.Evaluate)}
        for e in walk.all_expressions(body):
            if isinstance(e, ir.Call) and e.function in self.effectful:
                return False
            if isinstance(e, ir.Apply) and not e.intrinsic.is_pure:
                # impure intrinsics without arguments are barriers and fences
                if id(e) not in unused_results or not e.arguments:
                    return False
        return True

    # ---- start of each thread -------------------------------------------------------------------

    def _thread_start(self, s: ir.For) -> _Start | None:
        """Return the start if bounds are uniform and threads never reach the start of another."""
        if s.var.type != WEAK_INT or not self.uniformity.agrees(s.stop, s.step):
            return None
        start = self._decompose(s.start)
        return start if start and self._covers(s.step, start.scope) else None

    def _decompose(self, e: ir.Expr) -> _Start | None:
        e = self._value(e)
        match e:
            case ir.Apply() if e.type == WEAK_INT:
                return self._coordinate(e)
            case ir.Binary() if warp_index.is_lane(e):
                if warp_index.has_several_full_warps(self.assumptions):
                    return _Start(None, e, "warp")
                return None
            case ir.Binary(op, left, right) if op is ADD and e.type == WEAK_INT:
                for side, rest in ((left, right), (right, left)):
                    start = self._decompose(side) if self.uniformity.agrees(rest) else None
                    if start:
                        uniform_part = start.uniform_part
                        uniform_sum = (
                            binary(ADD, uniform_part, rest, e.span) if uniform_part else rest
                        )
                        return replace(start, uniform_part=uniform_sum)
        return None

    def _coordinate(self, e: ir.Apply) -> _Start | None:
        """Return the start for a coordinate; only along x are neighbours adjacent."""
        if e.intrinsic is linear_thread_index:
            return _Start(None, e, "block")
        if e.intrinsic is COORDINATES["threadIdx", "x"]:
            return _Start(None, e, "row")
        if e.intrinsic is not GRID[0]:
            return None
        block = ir.Apply(COORDINATES["blockIdx", "x"], (), WEAK_INT, e.span)
        offset = ir.Apply(COORDINATES["threadIdx", "x"], (), WEAK_INT, e.span)
        return _Start(binary(MUL, block, self._width(e.span), e.span), offset, "row")

    def _value(self, e: ir.Expr) -> ir.Expr:
        """Return the definition of a variable."""
        while isinstance(e, ir.Var) and e.name in self.values:
            e = self.values[e.name]
        return e

    def _width(self, span: Span) -> ir.Expr:
        if self.assumptions.block is not None:
            return integer(self.assumptions.block[0], span)
        return ir.Apply(COORDINATES["blockDim", "x"], (), WEAK_INT, span)

    def _covers(self, step: ir.Expr, scope: str) -> bool:
        """Return whether a step is at least the number of threads in the scope."""
        step, block = self._value(step), self.assumptions.block
        match step:
            case ir.Const():
                if block is None:
                    return False
                counts = {"row": block[0], "block": self.assumptions.max_threads, "warp": WARP}
                return step.value >= counts[scope] > 1
            case ir.Apply(intrinsic=intrinsic):
                return scope == "row" and intrinsic in (COORDINATES["blockDim", "x"], GRIDSIZE[0])
            case ir.Binary(op, left, right) if op is MUL:
                pairs = ((left, right), (right, left))
                return any(self._covers(a, scope) and self._is_positive(b) for a, b in pairs)
            case _:
                return False

    def _is_positive(self, e: ir.Expr) -> bool:
        e = self._value(e)
        if isinstance(e, ir.Apply):
            bounds = intrinsic_range(self.assumptions, e.intrinsic)
            return bounds is not None and bounds.low > 0
        return isinstance(e, ir.Const) and e.value > 0


def _loop_control(s: ir.For, start: _Start) -> list[ir.Expr]:
    """Return the expressions that control a loop."""
    return [e for e in (start.uniform_part, s.stop, s.step) if e is not None]


@dataclass(slots=True)
class SplitConditional:
    """The statements that replace an ``if`` around loops that are interchanged.

    ``declared`` are declarations. They precede the ``parts``: interchanged loops, and copies of the
    guard around the statements between them. ``changed``: the variables that the body assigns.
    """

    guard: ir.If
    changed: set[str]
    declared: list[ir.Stmt] = field(default_factory=list)
    parts: list[ir.Stmt] = field(default_factory=list)
    _current: list[ir.Stmt] = field(default_factory=list)

    @classmethod
    def empty(cls, s: ir.If) -> SplitConditional:
        """Return an empty replacement of a guarded body."""
        return cls(s, assigned_names(s.then))

    def add(self, s: ir.Stmt) -> None:
        """Add a statement to the current part."""
        if isinstance(s, ir.Allocate):
            self.declared.append(s)
        elif not isinstance(s, ir.Declare):
            self._current.append(s)
        elif s.init is None or self.is_invariant(s.init):
            self.declared.append(s)
        else:
            self.declared.append(replace(s, init=None))
            self._current.append(ir.Assign(s.var, s.init, s.span))
            self.changed.add(s.var.name)

    def end_part(self) -> None:
        """End the current part."""
        if self._current:
            self.parts.append(replace(self.guard, then=tuple(self._current)))
        self._current = []

    def is_invariant(self, *values: ir.Expr) -> bool:
        """Return whether expressions keep their values in the body and are safe to speculate."""
        return not self.changed & set(names_in(*values)) and all(map(is_speculatable, values))

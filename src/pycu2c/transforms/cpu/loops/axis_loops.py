"""CPU: a ThreadLoop becomes loops along the axes of the block, which ask for no more than runs.

``WorkItemLoop(i = blockIdx.x * 256 + threadIdx.x; if i < n: y[i] = 1)`` ->
``AxisLoop(i from first_x to min(last_x, n): y[i] = 1)``

A kernel that is one ThreadLoop, and asks for the place of a thread in the grid alone, is run row
by row: ``first_x`` to ``last_x`` are the threads of neighbouring blocks. Others are run block by
block. What ends threads before they have done anything becomes the bounds of loops, and what is
the same along an axis is computed outside of its loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set

from pycu2c.analysis import warp_index
from pycu2c.analysis.axis_order import AxisOrder, choose_axis_order
from pycu2c.analysis.context_array_layout import (
    reindex_context_arrays,
    thread_private_arrays,
    uses_index_only_for,
)
from pycu2c.analysis.effects import effectful
from pycu2c.analysis.launch_assumptions import Facts, is_fixed
from pycu2c.analysis.live_across_barriers import single_definitions
from pycu2c.analysis.ranges.intervals import Interval
from pycu2c.analysis.thread_bounds import BoundSolver, conjuncts
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Type
from pycu2c.ir.builders import binary, cast, integer, scalar_type
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Binary,
    BlockLoop,
    Body,
    Const,
    Declare,
    Expr,
    For,
    If,
    Module,
    Print,
    Select,
    Stmt,
    StripLoop,
    Var,
    WorkItemLoop,
)
from pycu2c.ir.walk import all_expressions, bodies, map_expr, statements, with_bodies
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, GRID, GRIDSIZE, PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import FIRST, LANES, LAST, block_thread
from pycu2c.ops.operators import ADD, GE, LT, MUL, SUB
from pycu2c.transforms.cpu.loops.axis_nest import LEAST_LANES, Axis, Nest


def loop_over_axes(module: Module, facts: Facts) -> Module:
    """Give every ThreadLoop of the kernel loops of its own."""
    shaper = _Shaper(module, facts)
    body, span = module.kernel.body, module.kernel.span
    if not _asks_for_place_alone(module):
        body = map_expr(shaper.block(body), shaper.extents)
    else:
        walk = shaper.walk(body, least=1)
        inner, middle, outer = walk.order
        shaper.by_rows = not walk.tiled
        order = (middle, inner, outer) if walk.tiled else walk.order
        body = map_expr(shaper.block(body), shaper.extents)
        body = (BlockLoop(body, span, order, shaper.by_rows),)
    return replace(module, kernel=replace(module.kernel, body=body))


def _asks_for_place_alone(module: Module) -> bool:
    """Whether a kernel is one thread loop that asks for the place of threads in the grid alone:
    blocks may then be run in any order, or together, their threads row by row."""
    match module.kernel.body:
        case (WorkItemLoop(body=body),):
            asked = {row for row in _rows(body) if is_fixed(row)}
            local = {row for row in asked if row.is_divergent or row in _BLOCK_NUMBERS}
            return bool(local) and local <= set(GRID) and not _has_order(module)
        case _:
            return False


_THREAD = tuple(PLACES["threadIdx", axis] for axis in AXES)
_THREAD_X = _THREAD[0]
_BLOCK_NUMBERS = {PLACES["blockIdx", axis] for axis in AXES}


def _rows(body: Body) -> set[Intrinsic]:
    return {e.intrinsic for e in all_expressions(body) if isinstance(e, Apply)}


def _has_order(module: Module) -> bool:
    """Whether something is done that threads are rather to do in their order."""
    for f in (module.kernel, *module.devices):
        if any(isinstance(s, Print) for s in statements(f.body)):
            return True
        if any(not row.is_pure for row in _rows(f.body)):
            return True
    return False


@dataclass(slots=True)
class _Shaper:
    module: Module
    facts: Facts
    by_rows: bool = False
    types: dict[str, Type] = field(default_factory=dict)  # of all variables
    outer: set[str] = field(default_factory=set)  # visible in every thread loop
    values: dict[str, Expr] = field(default_factory=dict)  # of those that are set once
    declarations: Mapping[str, int] = field(default_factory=dict)
    effectful: Set[str] = frozenset()
    ordered: bool = False
    slots: Set[str] = frozenset()  # that lie in an order of their own
    slot_order: tuple[int, int, int] = (0, 1, 2)

    counters: dict[str, Interval] = field(default_factory=dict)  # of loops around thread loops
    strip: tuple[Expr, Expr] | None = None  # where the threads of the one around start and stop

    def __post_init__(self) -> None:
        kernel = self.module.kernel
        self.types = {p.name: p.type for p in kernel.parameters}
        self.types |= {v.name: v.type for v in _variables(kernel.body)}
        self.declarations = Counter(v.name for v in _variables(kernel.body))
        within = [s for s in statements(kernel.body) if isinstance(s, WorkItemLoop)]
        inside = {v.name for s in within for v in _variables(s.body)}
        self.outer = set(self.types) - inside
        self.values = {n: v for n, v in single_definitions(kernel.body).items() if n in self.outer}
        self.effectful = effectful(self.module)
        self.ordered = _has_order(self.module)
        self._order_slots()

    def block(self, body: Body) -> Body:
        """A block outside the thread loops."""
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, WorkItemLoop):
                out += self._loops(s)
            elif isinstance(s, StripLoop):
                out += self._strips(s)
            else:
                if isinstance(s, For):
                    self._count(s)
                out.append(with_bodies(s, tuple(self.block(b) for b in bodies(s))))
        return tuple(out)

    def _count(self, s: For) -> None:
        """Note where the counter of a loop around thread loops lies."""
        known = self.known(self.values)
        if not isinstance(s.step, Const) or s.step.value > 0:
            self.counters[s.var.name] = Interval(known.of(s.start).low, known.of(s.stop).high - 1)

    def known(self, values: Mapping[str, Expr]) -> BoundSolver:
        parameters = {p.name: p for p in self.module.kernel.parameters}
        return BoundSolver(self.facts, parameters, values, dict(self.counters))

    def fresh(self, name: str) -> str:
        free, number = name, 0
        while free in self.types:
            number += 1
            free = f"{name}.{number}"
        self.types[free] = WEAK_INT
        return free

    def outside(self, name: str) -> str:
        """A name for a variable that moves out of a ThreadLoop, where others may have been."""
        if self.declarations[name] == 1:
            return name
        free = self.fresh(name)
        self.types[free] = self.types[name]
        return free

    def extents(self, e: Expr) -> Expr:
        """``gridsize.x`` -> ``gridDim.x * 256``."""
        if self.facts.block is None or not isinstance(e, Apply) or e.intrinsic not in GRIDSIZE:
            return e
        number = GRIDSIZE.index(e.intrinsic)
        blocks = Apply(PLACES["gridDim", AXES[number]], (), WEAK_INT, e.span)
        return cast(_times(blocks, integer(self.facts.block[number], e.span)), scalar_type(e))

    # ---- one ThreadLoop -------------------------------------------------------------------------

    def _loops(self, s: WorkItemLoop) -> Body:
        axes, body = self._by_rows(s) if self.by_rows else self._by_blocks(s)
        nest = Nest(self.known(self.values), self.outside, self.effectful, axes, s.span)
        nest.take(body)
        return nest.loops()

    def _by_rows(self, s: WorkItemLoop) -> tuple[list[Axis], Body]:
        places: dict[Intrinsic, Expr] = {}
        axes: dict[int, Axis] = {}
        body = s.body
        order = self.walk((s,), least=1).order
        for number in (2, 1, 0):
            first = Apply(FIRST[number], (), WEAK_INT, s.span)
            if number != order[0] and self._extent(number) == 1:
                places[GRID[number]] = first
                continue
            var, body = self._variable(GRID[number], AXES[number], body, s.span)
            places[GRID[number]] = var
            axes[number] = Axis(var, first, Apply(LAST[number], (), WEAK_INT, s.span))
        return _ordered(axes, order), _standing(body, places)

    def walk(self, body: Body, least: int) -> AxisOrder:
        """How to walk through the threads of a body."""
        if self.ordered:
            return AxisOrder((0, 1, 2), tiled=False)
        parameters = {p.name: p for p in self.module.kernel.parameters}
        extents = [self._extent(number) for number in range(3)]
        return choose_axis_order(body, self.values, parameters, extents, least)

    def _by_blocks(self, s: WorkItemLoop) -> tuple[list[Axis], Body]:
        asked = self._asked(s)
        if asked <= self._of_a_line() and self._goes_by_lanes(s.body):
            return self._by_lanes(s)
        if asked <= {block_thread}:
            return self._flat(s)
        places: dict[Intrinsic, Expr] = {}
        found: dict[int, Axis] = {}
        body = s.body
        if self.slots:
            body = reindex_context_arrays(body, self.slots, self._slot(s.span))
            asked = self._asked(replace(s, body=body))
        for number in (2, 1, 0):
            row = PLACES["threadIdx", AXES[number]]
            extent = self._extent(number)
            if extent == 1:
                places[row] = integer(0, s.span)
                continue
            var, body = self._variable(row, f"t{AXES[number]}", body, s.span)
            places[row] = var
            found[number] = Axis(var, integer(0, s.span), _size(extent, number, s.span))
        axes = _ordered(found, self.walk(s.body, LEAST_LANES).order)
        if not axes:  # one thread
            var = Var(self._free("tx", s.body), WEAK_INT, s.span)
            axes.append(Axis(var, integer(0, s.span), integer(1, s.span)))
        for number, place in enumerate(GRID):
            places[place] = self._in_grid(number, places, s.span)
        if block_thread in asked:
            number_ = self._number(places, (0, 1, 2), s.span)
            if not isinstance(number_, Var | Const):
                var = Var(self._free("t", body), WEAK_INT, s.span)
                body = (Declare(var, number_, s.span), *body)
                number_ = var
            places[block_thread] = number_
        return axes, _standing(body, places)

    def _order_slots(self) -> None:
        """Have slots lie as most threads are walked, if all go along axes that are known."""
        body = self.module.kernel.body
        loops = [s for s in statements(body) if isinstance(s, WorkItemLoop)]
        if self.facts.block is None or any(isinstance(s, StripLoop) for s in statements(body)):
            return
        order = self.walk(body, LEAST_LANES).order
        slots = thread_private_arrays(body)
        flat = [s.body for s in loops if self._asked(s) <= {block_thread}]
        if order[0] != 0 and all(uses_index_only_for(slots, b) for b in flat):
            self.slots, self.slot_order = slots, order

    def _slot(self, span: Span) -> Expr:
        """Where a thread has its own."""
        here: dict[Intrinsic, Expr] = {}
        for number, row in enumerate(_THREAD):
            alone = self._extent(number) == 1
            here[row] = integer(0, span) if alone else Apply(row, (), WEAK_INT, span)
        return self._number(here, self.slot_order, span)

    def _asked(self, s: WorkItemLoop) -> set[Intrinsic]:
        """What tells the threads of a block apart."""
        return {row for row in _rows(s.body) if is_fixed(row) and row.is_divergent}

    def _flat(self, s: WorkItemLoop) -> tuple[list[Axis], Body]:
        """No axis matters, but for the number of the thread in the block, or in a strip of it."""
        var, body = self._variable(block_thread, "t", s.body, s.span)
        start, stop = self.strip or (integer(0, s.span), self._threads(s.span))
        return [Axis(var, start, stop)], _standing(body, {block_thread: var})

    def _goes_by_lanes(self, body: Body) -> bool:
        """Whether the same few lanes of each warp have something to do, or warps walk apart."""
        whole = self.strip is None and warp_index.is_multiple_of_warp(self.facts)
        if whole and warp_index.has_warp_rows(body):
            return True
        match body:
            case (*before, If(condition=condition, orelse=())):
                if not all(isinstance(s, Declare) for s in before):
                    return False
                told = [e for e in conjuncts(condition) if isinstance(e, Binary)]
                asked = any(e.op in (LT, GE) and warp_index.is_lane(e.left) for e in told)
                whole = self.facts.block is not None and self.facts.threads % WARP == 0
                return asked and whole and self.facts.threads > WARP and self.strip is None
            case _:
                return False

    def _of_a_line(self) -> set[Intrinsic]:
        """The coordinates that follow from the number of a thread in its block."""
        is_line = self.facts.block is not None and self.facts.block[1:] == (1, 1)
        return {block_thread, _THREAD_X, GRID[0]} if is_line else {block_thread}

    def _by_lanes(self, s: WorkItemLoop) -> tuple[list[Axis], Body]:
        """Warp by warp, and lane by lane in each."""
        warp = Var(self._free("warp", s.body), WEAK_INT, s.span)
        lane = Var(self._free("lane", s.body), WEAK_INT, s.span)
        thread, body = self._variable(_THREAD_X, "t", s.body, s.span)
        zero, count = integer(0, s.span), integer(self.facts.threads // WARP, s.span)
        axes = [Axis(warp, zero, count), Axis(lane, zero, integer(WARP, s.span))]
        number = binary(ADD, binary(MUL, warp, integer(WARP, s.span), s.span), lane, s.span)
        places: dict[Intrinsic, Expr] = {block_thread: thread, _THREAD_X: thread}
        places[GRID[0]] = self._in_grid(0, places, s.span)
        body = map_expr(body, lambda e: warp_index.replace_warp_and_lane(e, warp, lane, self.facts))
        return axes, (Declare(thread, number, s.span), *_standing(body, places))

    def _threads(self, span: Span) -> Expr:
        """How many the block has."""
        threads: Expr = integer(1, span)
        for number in range(3):
            threads = _times(threads, _size(self._extent(number), number, span))
        return threads

    def _strips(self, s: StripLoop) -> Body:
        threads, lanes = self._threads(s.span), integer(LANES, s.span)
        if isinstance(threads, Const) and threads.value <= LANES:
            return self._in_strip(s, integer(0, s.span), threads)
        first = Var(self.fresh("strip"), WEAK_INT, s.span)
        end: Expr = binary(ADD, first, lanes, s.span)
        declared: Body = ()
        if not isinstance(threads, Const) or threads.value % LANES:
            whole = binary(LT, binary(SUB, threads, first, s.span), lanes, s.span)
            last = Var(self.fresh("strip.end"), WEAK_INT, s.span)
            declared = (Declare(last, Select(whole, threads, end, WEAK_INT, s.span), s.span),)
            end = last
        body = (*declared, *self._in_strip(s, first, end))
        return (For(first, integer(0, s.span), threads, lanes, body, s.span),)

    def _in_strip(self, s: StripLoop, start: Expr, stop: Expr) -> Body:
        self.strip = (start, stop)
        body = self.block(s.body)
        self.strip = None
        return body

    def _extent(self, number: int) -> int | None:
        return None if self.facts.block is None else self.facts.block[number]

    def _in_grid(self, number: int, places: Mapping[Intrinsic, Expr], span: Span) -> Expr:
        block = Apply(PLACES["blockIdx", AXES[number]], (), WEAK_INT, span)
        size = _size(self._extent(number), number, span)
        return _plus(_times(block, size), places[PLACES["threadIdx", AXES[number]]])

    def _number(self, places: Mapping[Intrinsic, Expr], order: Sequence[int], span: Span) -> Expr:
        """Of a thread in the block, where threads are counted along the axes in that order."""
        found: Expr = integer(0, span)
        for number in reversed(order):
            size = _size(self._extent(number), number, span)
            found = _plus(_times(found, size), places[PLACES["threadIdx", AXES[number]]])
        return found

    def _variable(self, row: Intrinsic, name: str, body: Body, span: Span) -> tuple[Var, Body]:
        """The kernel's own variable for a coordinate, if it has one that never changes."""
        changed = {s.var.name for s in statements(body) if isinstance(s, Assign)}
        for i, s in enumerate(body):
            match s:
                case Declare(var=var, init=Apply(intrinsic=found)) if found is row:
                    if var.name not in changed and var.type == WEAK_INT:
                        return var, (*body[:i], *body[i + 1 :])
                case _:
                    pass
        return Var(self._free(name, body), WEAK_INT, span), body

    def _free(self, name: str, body: Body) -> str:
        """The name itself if the kernel uses it for whole numbers elsewhere only."""
        here = _named(body) | {e.name for e in all_expressions(body) if isinstance(e, Var)}
        same = name not in self.types or self.types[name] == WEAK_INT
        if same and name not in here and name not in self.outer:
            self.types[name] = WEAK_INT
            return name
        return self.fresh(name)


def _ordered(axes: Mapping[int, Axis], order: Sequence[int]) -> list[Axis]:
    """Outermost first."""
    return [axes[number] for number in reversed(order) if number in axes]


def _variables(body: Body) -> list[Var]:
    declared = (s for s in statements(body) if isinstance(s, Declare | For | Allocate))
    return [s.var for s in declared]


def _named(body: Body) -> set[str]:
    return {v.name for v in _variables(body)}


def _size(extent: int | None, number: int, span: Span) -> Expr:
    if extent is not None:
        return integer(extent, span)
    return Apply(PLACES["blockDim", AXES[number]], (), WEAK_INT, span)


def _standing(body: Body, places: Mapping[Intrinsic, Expr]) -> Body:
    """A body whose threads stand where the loops say."""

    def placed(e: Expr) -> Expr:
        if isinstance(e, Apply) and e.intrinsic in places:
            return cast(replace(places[e.intrinsic], span=e.span), scalar_type(e))
        return e

    return map_expr(body, placed)


def _plus(a: Expr, b: Expr) -> Expr:
    if isinstance(a, Const) and a.value == 0:
        return b
    return a if isinstance(b, Const) and b.value == 0 else binary(ADD, a, b, a.span)


def _times(a: Expr, b: Expr) -> Expr:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const) and one.value in (0, 1):
            return other if one.value else one
    return binary(MUL, a, b, a.span)

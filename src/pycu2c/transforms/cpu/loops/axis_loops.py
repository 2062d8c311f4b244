"""Lower work-item loops to loops along the axes of the block (CPU).

``WorkItemLoop(i = blockIdx.x * 256 + threadIdx.x; if i < n: y[i] = 1)`` -> ``AxisLoop(i from
first_x to min(last_x, n): y[i] = 1)``

A kernel that is one work-item loop and uses only the grid index runs across blocks: ``first_x`` to
``last_x`` are the threads of adjacent blocks. Other kernels run block by block. Leading conditions
that end threads become loop bounds, and expressions that are invariant along an axis are hoisted.
Uses ``analysis.axis_order``, ``analysis.thread_bounds`` and ``analysis.warp_index``. Requires the
form WORK_ITEM_LOOPS (``ir/forms.py``). Guarantees that only axis loops and block loops remain, and
that conditions of bounds are evaluated once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set

from pycu2c.analysis import warp_index
from pycu2c.analysis.axis_order import AxisOrder, choose_axis_order
from pycu2c.analysis.launch_ranges import is_thread_coordinate
from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.analysis.thread_bounds import BoundSolver, conjuncts
from pycu2c.analysis.variables import assigned_names, declared_names, single_definitions
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, cast, integer, scalar_type
from pycu2c.ir.name_suffixes import END
from pycu2c.ir.views import multiply
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES, GRID, GRIDSIZE
from pycu2c.ops.intrinsics.threads.cpu_block import LANES, ROW_END, ROW_START, linear_thread_index
from pycu2c.ops.operators import ADD, GE, LT, MUL, SUB
from pycu2c.transforms.cpu.loops.axis_nest import MIN_LANES, Axis, AxisNest


def loop_over_axes(
    module: ir.Module, assumptions: LaunchAssumptions, effectful: Set[str]
) -> ir.Module:
    """Lower every work-item loop of the kernel."""
    builder = _AxisLoopBuilder(module, assumptions, effectful)
    body, span = module.kernel.body, module.kernel.span
    if builder.order_dependent or not _uses_grid_index_only(body):
        body = builder.fold_extents(builder.block(body))
    else:
        axis_order = builder.choose_order(body, min_threads=1)
        inner, middle, outer = axis_order.order
        builder.order_across_blocks = None if axis_order.tiled else axis_order.order
        order = (middle, inner, outer) if axis_order.tiled else axis_order.order
        body = builder.fold_extents(builder.block(body))
        body = (ir.BlockLoop(body, span, order, not axis_order.tiled),)
    return walk.with_kernel_body(module, body)


def _uses_grid_index_only(kernel_body: ir.Body) -> bool:
    """Return whether a kernel is one work-item loop that reads only the grid index.

    Its threads may then run across blocks, if their order does not matter.
    """
    match kernel_body:
        case (ir.WorkItemLoop(body=body),):
            used = {
                coordinate
                for coordinate in _intrinsics_in(body)
                if is_thread_coordinate(coordinate)
            }
            block_dependent = {
                coordinate
                for coordinate in used
                if coordinate.is_divergent or coordinate in _BLOCK_INDICES
            }
            return bool(block_dependent) and block_dependent <= set(GRID)
        case _:
            return False


_THREAD_INDICES = tuple(COORDINATES["threadIdx", axis] for axis in AXES)
_THREAD_X = _THREAD_INDICES[0]
_BLOCK_INDICES = {COORDINATES["blockIdx", axis] for axis in AXES}


def _intrinsics_in(body: ir.Body) -> set[Intrinsic]:
    return {e.intrinsic for e in walk.all_expressions(body) if isinstance(e, ir.Apply)}


def _is_order_dependent(module: ir.Module) -> bool:
    """Return whether threads should run in order because of prints or atomics."""
    for f in module.functions:
        if walk.contains(f.body, ir.Print):
            return True
        if any(not intrinsic.is_pure for intrinsic in _intrinsics_in(f.body)):
            return True
    return False


@dataclass(slots=True)
class _AxisLoopBuilder:
    module: ir.Module
    assumptions: LaunchAssumptions
    effectful: Set[str] = frozenset()
    order_across_blocks: tuple[int, int, int] | None = None  # None: block by block
    types: dict[str, Type] = field(default_factory=dict)  # of all variables, by name
    outer_names: set[str] = field(default_factory=set)  # names visible in every work-item loop
    values: dict[str, ir.Expr] = field(default_factory=dict)  # single definitions
    declarations: Mapping[str, int] = field(default_factory=dict)
    order_dependent: bool = False
    counter_ranges: dict[str, Interval] = field(default_factory=dict)  # of enclosing loops
    strip_bounds: tuple[ir.Expr, ir.Expr] | None = (
        None  # first and last thread of the current strip
    )

    def __post_init__(self) -> None:
        kernel = self.module.kernel
        self.types = {p.name: p.type for p in kernel.parameters}
        self.types |= {v.name: v.type for v in _variables(kernel.body)}
        self.declarations = Counter(v.name for v in _variables(kernel.body))
        work_item_loops = [
            s for s in walk.statements(kernel.body) if isinstance(s, ir.WorkItemLoop)
        ]
        inner_names = {v.name for s in work_item_loops for v in _variables(s.body)}
        self.outer_names = set(self.types) - inner_names
        self.values = {
            n: v for n, v in single_definitions(kernel.body).items() if n in self.outer_names
        }
        self.order_dependent = _is_order_dependent(self.module)

    def block(self, body: ir.Body) -> ir.Body:
        """Process a block outside the work-item loops."""
        out: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.WorkItemLoop):
                out += self._loops(s)
            elif isinstance(s, ir.StripLoop):
                out += self._strip_loops(s)
            else:
                if isinstance(s, ir.For):
                    self._record_counter(s)
                out.append(walk.map_bodies(s, self.block))
        return tuple(out)

    def _record_counter(self, s: ir.For) -> None:
        """Record the range of the counter of a loop around work-item loops."""
        bound_solver = self.bound_solver(self.values)
        if not isinstance(s.step, ir.Const) or s.step.value > 0:
            self.counter_ranges[s.var.name] = Interval(
                bound_solver.of(s.start).low, bound_solver.of(s.stop).high - 1
            )

    def bound_solver(self, values: Mapping[str, ir.Expr]) -> BoundSolver:
        parameters = {p.name: p for p in self.module.kernel.parameters}
        return BoundSolver(self.assumptions, parameters, values, dict(self.counter_ranges))

    def new_name(self, name: str) -> str:
        candidate, suffix = name, 0
        while candidate in self.types:
            suffix += 1
            candidate = f"{name}.{suffix}"
        self.types[candidate] = WEAK_INT
        return candidate

    def hoisted_name(self, name: str) -> str:
        """Return a name for a variable that moves out of a work-item loop."""
        if self.declarations[name] == 1:
            return name
        candidate = self.new_name(name)
        self.types[candidate] = self.types[name]
        return candidate

    def fold_extents(self, body: ir.Body) -> ir.Body:
        """Replace ``gridsize.x`` by ``gridDim.x * 256``."""
        block = self.assumptions.block
        if block is None or _intrinsics_in(body).isdisjoint(GRIDSIZE):
            return body

        def folded(e: ir.Expr) -> ir.Expr:
            if not isinstance(e, ir.Apply) or e.intrinsic not in GRIDSIZE:
                return e
            axis = GRIDSIZE.index(e.intrinsic)
            blocks = ir.Apply(COORDINATES["gridDim", AXES[axis]], (), WEAK_INT, e.span)
            return cast(multiply(blocks, integer(block[axis], e.span)), scalar_type(e))

        return walk.map_expr(body, folded)

    # ---- one work-item loop ---------------------------------------------------------------------

    def _loops(self, s: ir.WorkItemLoop) -> ir.Body:
        order = self.order_across_blocks
        axes, body = self._loops_across_blocks(s, order) if order else self._loops_in_block(s)
        nest = AxisNest(
            self.bound_solver(self.values), self.hoisted_name, self.effectful, axes, s.span
        )
        nest.add_body(body)
        return nest.loops()

    def _loops_across_blocks(
        self, s: ir.WorkItemLoop, order: tuple[int, int, int]
    ) -> tuple[list[Axis], ir.Body]:
        coordinate_exprs: dict[Intrinsic, ir.Expr] = {}
        axes: dict[int, Axis] = {}
        body = s.body
        for axis in (2, 1, 0):
            first = ir.Apply(ROW_START[axis], (), WEAK_INT, s.span)
            if axis != order[0] and self._extent(axis) == 1:
                coordinate_exprs[GRID[axis]] = first
                continue
            var, body = self._coordinate_variable(GRID[axis], AXES[axis], body, s.span)
            coordinate_exprs[GRID[axis]] = var
            axes[axis] = Axis(var, first, ir.Apply(ROW_END[axis], (), WEAK_INT, s.span))
        return _outermost_first(axes, order), _substitute_coordinates(body, coordinate_exprs)

    def choose_order(self, body: ir.Body, min_threads: int) -> AxisOrder:
        """Return the loop order of the axes for a body."""
        if self.order_dependent:
            return AxisOrder((0, 1, 2), tiled=False)
        parameters = {p.name: p for p in self.module.kernel.parameters}
        extents = [self._extent(axis) for axis in range(3)]
        return choose_axis_order(body, self.values, parameters, extents, min_threads)

    def _loops_in_block(self, s: ir.WorkItemLoop) -> tuple[list[Axis], ir.Body]:
        used = self._used_coordinates(s)
        if used <= self._linear_coordinates() and self._selects_lanes(s.body):
            return self._warp_and_lane_loops(s)
        if used <= {linear_thread_index}:
            return self._flat_loop(s)
        coordinate_exprs: dict[Intrinsic, ir.Expr] = {}
        axis_loops: dict[int, Axis] = {}
        body = s.body
        for axis in (2, 1, 0):
            coordinate = COORDINATES["threadIdx", AXES[axis]]
            extent = self._extent(axis)
            if extent == 1:
                coordinate_exprs[coordinate] = integer(0, s.span)
                continue
            var, body = self._coordinate_variable(coordinate, f"t{AXES[axis]}", body, s.span)
            coordinate_exprs[coordinate] = var
            axis_loops[axis] = Axis(
                var, integer(0, s.span), _extent_expression(extent, axis, s.span)
            )
        axes = _outermost_first(axis_loops, self.choose_order(s.body, MIN_LANES).order)
        if not axes:  # a block of one thread
            var = ir.Var(self._unused_name("tx", s.body), WEAK_INT, s.span)
            axes.append(Axis(var, integer(0, s.span), integer(1, s.span)))
        for axis, grid_index in enumerate(GRID):
            coordinate_exprs[grid_index] = self._grid_index(axis, coordinate_exprs, s.span)
        if linear_thread_index in used:
            linear_index = self._linear_index(coordinate_exprs, s.span)
            if not isinstance(linear_index, ir.Var | ir.Const):
                var = ir.Var(self._unused_name("t", body), WEAK_INT, s.span)
                body = (ir.Declare(var, linear_index, s.span), *body)
                linear_index = var
            coordinate_exprs[linear_thread_index] = linear_index
        return axes, _substitute_coordinates(body, coordinate_exprs)

    def _used_coordinates(self, s: ir.WorkItemLoop) -> set[Intrinsic]:
        """Return the coordinates that distinguish the threads of a block."""
        return {
            coordinate
            for coordinate in _intrinsics_in(s.body)
            if is_thread_coordinate(coordinate) and coordinate.is_divergent
        }

    def _flat_loop(self, s: ir.WorkItemLoop) -> tuple[list[Axis], ir.Body]:
        """Loop over the linear thread index, in the block or in the current strip."""
        var, body = self._coordinate_variable(linear_thread_index, "t", s.body, s.span)
        start, stop = self.strip_bounds or (integer(0, s.span), self._thread_count(s.span))
        return [Axis(var, start, stop)], _substitute_coordinates(body, {linear_thread_index: var})

    def _selects_lanes(self, body: ir.Body) -> bool:
        """Return whether a condition on the lane guards a body: it bounds a loop over lanes."""
        threads = self.assumptions.max_threads
        has_full_warps = self.assumptions.block is not None and threads % WARP == 0
        if self.strip_bounds is not None or not has_full_warps or threads == WARP:
            return False
        match body:
            case (*declarations, ir.If(condition=condition, orelse=())):
                comparisons = [e for e in conjuncts(condition) if isinstance(e, ir.Binary)]
                return all(isinstance(s, ir.Declare) for s in declarations) and any(
                    e.op in (LT, GE) and warp_index.is_lane(e.left) for e in comparisons
                )
            case _:
                return False

    def _linear_coordinates(self) -> set[Intrinsic]:
        """Return the coordinates that the linear thread index determines."""
        is_1d = self.assumptions.block is not None and self.assumptions.block[1:] == (1, 1)
        return {linear_thread_index, _THREAD_X, GRID[0]} if is_1d else {linear_thread_index}

    def _warp_and_lane_loops(self, s: ir.WorkItemLoop) -> tuple[list[Axis], ir.Body]:
        """Loop over the warps of a block, and over the lanes of each warp."""
        warp = ir.Var(self._unused_name("warp", s.body), WEAK_INT, s.span)
        lane = ir.Var(self._unused_name("lane", s.body), WEAK_INT, s.span)
        thread, body = self._coordinate_variable(_THREAD_X, "t", s.body, s.span)
        zero, count = integer(0, s.span), integer(self.assumptions.max_threads // WARP, s.span)
        axes = [Axis(warp, zero, count), Axis(lane, zero, integer(WARP, s.span))]
        linear_index = binary(ADD, binary(MUL, warp, integer(WARP, s.span), s.span), lane, s.span)
        coordinate_exprs: dict[Intrinsic, ir.Expr] = dict.fromkeys(
            (linear_thread_index, _THREAD_X), thread
        )
        coordinate_exprs[GRID[0]] = self._grid_index(0, coordinate_exprs, s.span)
        body = walk.map_expr(
            body, lambda e: warp_index.replace_warp_and_lane(e, warp, lane, self.assumptions)
        )
        return axes, (
            ir.Declare(thread, linear_index, s.span),
            *_substitute_coordinates(body, coordinate_exprs),
        )

    def _thread_count(self, span: Span) -> ir.Expr:
        """Return the number of threads of a block."""
        threads: ir.Expr = integer(1, span)
        for axis in range(3):
            threads = multiply(threads, _extent_expression(self._extent(axis), axis, span))
        return threads

    def _strip_loops(self, s: ir.StripLoop) -> ir.Body:
        threads, lanes = self._thread_count(s.span), integer(LANES, s.span)
        if isinstance(threads, ir.Const) and threads.value <= LANES:
            return self._loops_in_strip(s, integer(0, s.span), threads)
        first = ir.Var(self.new_name("strip"), WEAK_INT, s.span)
        end: ir.Expr = binary(ADD, first, lanes, s.span)
        end_declaration: ir.Body = ()
        if not isinstance(threads, ir.Const) or threads.value % LANES:
            is_last_strip = binary(LT, binary(SUB, threads, first, s.span), lanes, s.span)
            last = ir.Var(self.new_name(f"strip.{END}"), WEAK_INT, s.span)
            end_declaration = (
                ir.Declare(last, ir.Select(is_last_strip, threads, end, WEAK_INT, s.span), s.span),
            )
            end = last
        body = (*end_declaration, *self._loops_in_strip(s, first, end))
        return (ir.For(first, integer(0, s.span), threads, lanes, body, s.span),)

    def _loops_in_strip(self, s: ir.StripLoop, start: ir.Expr, stop: ir.Expr) -> ir.Body:
        self.strip_bounds = (start, stop)
        body = self.block(s.body)
        self.strip_bounds = None
        return body

    def _extent(self, axis: int) -> int | None:
        return None if self.assumptions.block is None else self.assumptions.block[axis]

    def _grid_index(
        self, axis: int, coordinate_exprs: Mapping[Intrinsic, ir.Expr], span: Span
    ) -> ir.Expr:
        block = ir.Apply(COORDINATES["blockIdx", AXES[axis]], (), WEAK_INT, span)
        size = _extent_expression(self._extent(axis), axis, span)
        return _add(multiply(block, size), coordinate_exprs[COORDINATES["threadIdx", AXES[axis]]])

    def _linear_index(self, coordinate_exprs: Mapping[Intrinsic, ir.Expr], span: Span) -> ir.Expr:
        """Return the linear index of a thread."""
        index: ir.Expr = integer(0, span)
        for axis in (2, 1, 0):
            size = _extent_expression(self._extent(axis), axis, span)
            index = _add(
                multiply(index, size), coordinate_exprs[COORDINATES["threadIdx", AXES[axis]]]
            )
        return index

    def _coordinate_variable(
        self, coordinate: Intrinsic, name: str, body: ir.Body, span: Span
    ) -> tuple[ir.Var, ir.Body]:
        """Return a variable for a coordinate, and the body without its declaration.

        It is the variable of the kernel if that is never reassigned, else a new one.
        """
        changed = assigned_names(body)
        for i, s in enumerate(body):
            match s:
                case ir.Declare(var=var, init=ir.Apply(intrinsic=intrinsic)) if (
                    intrinsic is coordinate
                ):
                    if var.name not in changed and var.type == WEAK_INT:
                        return var, (*body[:i], *body[i + 1 :])
        return ir.Var(self._unused_name(name, body), WEAK_INT, span), body

    def _unused_name(self, name: str, body: ir.Body) -> str:
        """Return the name itself unless it is used in the body or for another type."""
        used_names = declared_names(body) | {
            e.name for e in walk.all_expressions(body) if isinstance(e, ir.Var)
        }
        has_same_type = name not in self.types or self.types[name] == WEAK_INT
        if has_same_type and name not in used_names and name not in self.outer_names:
            self.types[name] = WEAK_INT
            return name
        return self.new_name(name)


def _outermost_first(axes: Mapping[int, Axis], order: Sequence[int]) -> list[Axis]:
    """Return the axes of the loops, outermost first."""
    return [axes[axis] for axis in reversed(order) if axis in axes]


def _variables(body: ir.Body) -> list[ir.Var]:
    declarations = (
        s for s in walk.statements(body) if isinstance(s, ir.Declare | ir.For | ir.Allocate)
    )
    return [s.var for s in declarations]


def _extent_expression(extent: int | None, axis: int, span: Span) -> ir.Expr:
    if extent is not None:
        return integer(extent, span)
    return ir.Apply(COORDINATES["blockDim", AXES[axis]], (), WEAK_INT, span)


def _substitute_coordinates(
    body: ir.Body, coordinate_exprs: Mapping[Intrinsic, ir.Expr]
) -> ir.Body:
    """Replace coordinates by the variables of the loops."""

    def substitute(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Apply) and e.intrinsic in coordinate_exprs:
            return cast(replace(coordinate_exprs[e.intrinsic], span=e.span), scalar_type(e))
        return e

    return walk.map_expr(body, substitute)


def _add(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    if isinstance(a, ir.Const) and a.value == 0:
        return b
    return a if isinstance(b, ir.Const) and b.value == 0 else binary(ADD, a, b, a.span)

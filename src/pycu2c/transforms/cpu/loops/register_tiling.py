"""Register tiling: move an inner loop outside a tile of threads whose sums stay in registers (CPU).

``for i: for j: total = 0; for k: total += a[i, k] * b[k, j]; c[i, j] = total`` -> ``for i_first:
for j_first: for i, j: total[i, j] = 0; for k: for i, j: total[i, j] += a[i, k] * b[k, j]; for i, j:
c[i, j] = total[i, j]``

A tile has at most four rows of threads. Scalar expansion stores the variables of its threads in
arrays; for one row, these have about 256 bytes. The inner loop must have the same iterations for
all threads. Tiling is profitable in two cases:

- The loop reads elements that are adjacent for adjacent threads and change per iteration. A single
  thread would touch a new cache line in each iteration and use one element of it.
- The loop only computes expressions that can be vectorized. The iterations of one thread depend on
  each other, those of a tile do not.

Loops with few known iterations are left to the C compiler. Uses ``analysis.simd_legality``.
Requires the form AXIS_LOOPS (``ir/forms.py``): work-item loops along the axes of the block.
Guarantees the same order of operations for each thread. Reference: Wolf and Lam, "A data locality
optimizing algorithm" (1991).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pycu2c.analysis.effects import is_rematerializable
from pycu2c.analysis.simd_legality import LaneStrides
from pycu2c.analysis.variables import assigned_names, declared_names, names_in, single_definitions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, cast, integer, logical
from pycu2c.ops.intrinsics.builtins import MIN_MAX_INTRINSICS
from pycu2c.ops.operators import ADD, GE, SUB
from pycu2c.transforms.cpu.simd import divergent_loops

_MINIMUM = MIN_MAX_INTRINSICS[0]
TILE_ROWS = 4
TILE_ROW_BYTES = 256  # of the expanded variables; four rows fill 16 AVX-512 registers
MIN_LANES = 16  # of a row, even if its variables exceed TILE_ROW_BYTES
MIN_ITERATIONS = 128  # loops with fewer known iterations are left to the C compiler


def tile_registers(module: ir.Module) -> ir.Module:
    """Tile the loops over threads of a kernel."""
    return walk.with_kernel_body(module, _block(module.kernel.body))


def _block(body: ir.Body) -> ir.Body:
    out: list[ir.Stmt] = []
    for s in body:
        tile = _find_tile(s)
        out += [walk.map_bodies(s, _block)] if tile is None else tile.lower()
    return tuple(out)


def _find_tile(s: ir.Stmt) -> _Tile | None:
    """Return the tile for a statement: rows of threads or one row, or None."""
    match s:
        case ir.AxisLoop(lockstep=True):
            return _make_tile(None, (), s)
        case ir.AxisLoop(
            step=ir.Const(value=1), body=(*prologue, ir.AxisLoop(lockstep=True) as lane_loop)
        ):
            row_declarations = tuple(
                x
                for x in prologue
                if isinstance(x, ir.Declare) and x.init and is_rematerializable(x.init)
            )
            bounds = names_in(lane_loop.start, lane_loop.stop)
            if len(row_declarations) < len(prologue) or {
                s.var.name,
                *declared_names(row_declarations),
            } & set(bounds):
                return None
            return _make_tile(s, row_declarations, lane_loop)
        case _:
            return None


def _make_tile(
    row_loop: ir.AxisLoop | None, row_declarations: ir.Body, lane_loop: ir.AxisLoop
) -> _Tile | None:
    loop_index = next(
        (i for i, x in enumerate(lane_loop.body) if not isinstance(x, ir.Declare)), None
    )
    if loop_index is None or not isinstance(lane_loop.body[loop_index], ir.For):
        return None
    loops: list[ir.For] = []
    inner_declarations: list[ir.Stmt] = []
    body = lane_loop.body[loop_index : loop_index + 1]
    while body and isinstance(loop := body[-1], ir.For):
        inner_declarations += body[:-1]
        loops.append(loop)
        body = loop.body
    prologue, epilogue = lane_loop.body[:loop_index], lane_loop.body[loop_index + 1 :]
    tile = _Tile(
        row_loop,
        row_declarations,
        lane_loop,
        prologue,
        tuple(loops),
        tuple(inner_declarations),
        body,
        epilogue,
    )
    return tile if tile.is_legal() and tile.is_profitable() else None


@dataclass(frozen=True, slots=True)
class _TiledAxis:
    """An axis of a tile.

    ``loop`` steps over the tiles; ``is_full`` tests whether a tile is complete (None: always);
    ``count`` is the number of threads in a tile.
    """

    loop: ir.For
    max_threads: int
    is_full: ir.Expr | None
    count: ir.Expr


def _tile_axis(axis: ir.AxisLoop, max_threads: int) -> _TiledAxis:
    extent = _max_extent(axis)
    if extent is not None:
        max_threads = max(1, min(max_threads, extent))
    has_constant_stop = isinstance(axis.stop, ir.Const)
    first, max_threads_expr = _first_index(axis), integer(max_threads, axis.span)
    remaining = binary(SUB, axis.stop, first, axis.span)
    count = ir.Apply(_MINIMUM, (max_threads_expr, remaining), WEAK_INT, axis.span)
    loop = ir.For(first, axis.start, axis.stop, max_threads_expr, (), axis.span)
    is_always_full = has_constant_stop and extent is not None and extent % max_threads == 0
    return _TiledAxis(
        loop,
        max_threads,
        None if is_always_full else binary(GE, remaining, max_threads_expr, axis.span),
        count,
    )


def _max_extent(axis: ir.AxisLoop) -> int | None:
    """Return the maximum number of threads along an axis, or None if it is unknown."""
    match axis.start, axis.stop:
        case ir.Const(value=start), ir.Const(value=stop):
            return int(stop) - int(start)
        case ir.Const(value=start), ir.Apply(intrinsic=intrinsic, arguments=arguments) if (
            intrinsic is _MINIMUM
        ):
            extents = [int(e.value) - int(start) for e in arguments if isinstance(e, ir.Const)]
            return min(extents, default=None)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Tile:
    """A tile under construction.

    ``prologue``, ``inner_declarations``: declarations before and inside the loops. ``epilogue``:
    what a thread executes after the loops.
    """

    row_loop: ir.AxisLoop | None
    row_declarations: ir.Body
    lane_loop: ir.AxisLoop
    prologue: ir.Body
    loops: tuple[ir.For, ...]
    inner_declarations: ir.Body
    body: ir.Body
    epilogue: ir.Body

    # ---- legality and profitability ----

    def is_legal(self) -> bool:
        """Return whether the loops have the same bounds for all threads and no side effects.

        They may only assign scalars. Those that live longer than an iteration must be declared
        before the loops.
        """
        inner_statements = tuple(walk.statements(self.body))
        if not all(isinstance(s, ir.Declare | ir.Assign | ir.If) for s in inner_statements):
            return False
        if not all(
            isinstance(s, ir.Declare) and self._is_rematerializable(s)
            for s in self.inner_declarations
        ):
            return False
        local_names = declared_names((*self.inner_declarations, *self.body))
        changed = {s.var.name for s in inner_statements if isinstance(s, ir.Assign)} - local_names
        if not changed or not changed <= declared_names(self.prologue):
            return False
        if any(isinstance(s, ir.Declare) and s.init is None for s in self.prologue):
            return False
        bounds = [e for loop in self.loops for e in (loop.start, loop.stop, loop.step)]
        return all(map(is_rematerializable, bounds)) and not self._thread_dependent_names() & set(
            names_in(*bounds)
        )

    def _thread_dependent_names(self) -> set[str]:
        """Return the names whose values differ between threads."""
        axis_names = {v.var.name for v in (self.row_loop, self.lane_loop) if v}
        return axis_names | declared_names(
            (*self.row_declarations, *self.prologue, *self.inner_declarations, *self.body)
        )

    def is_profitable(self) -> bool:
        trip_counts = [trip_count(loop) for loop in self.loops]
        if None not in trip_counts and math.prod(r or 0 for r in trip_counts) < MIN_ITERATIONS:
            return False
        if divergent_loops.is_vectorizable((*self.inner_declarations, *self.body)):
            return True
        values = single_definitions((*self.prologue, *self.inner_declarations, *self.body))
        strides = LaneStrides(
            self.lane_loop.var.name, values, {v.name for v in self._expanded_variables()}
        )
        iteration_dependent = {loop.var.name for loop in self.loops}
        for name, value in values.items():
            if iteration_dependent & set(names_in(value)):
                iteration_dependent.add(name)
        loads = (e for e in walk.all_expressions(self.body) if isinstance(e, ir.Load))
        return any(
            strides.of(e.indices[-1]) == 1 and iteration_dependent & set(names_in(*e.indices))
            for e in loads
        )

    def _expanded_variables(self) -> list[ir.Var]:
        """Return the variables with one element per thread: those that cannot be rematerialized."""
        return [
            s.var
            for s in self.prologue
            if isinstance(s, ir.Declare) and not self._is_rematerializable(s)
        ]

    def _is_rematerializable(self, s: ir.Declare) -> bool:
        """Return whether recomputing a declaration is cheap and gives the same value."""
        changed = assigned_names(self.lane_loop.body)
        if s.init is None or not is_rematerializable(s.init):
            return False
        return not changed & {s.var.name, *names_in(s.init)}

    # ---- the loops ----

    def lower(self) -> ir.Body:
        span = self.lane_loop.span
        tiled_axes = [_tile_axis(self.lane_loop, self._width())]
        if self.row_loop:
            tiled_axes.insert(0, _tile_axis(self.row_loop, TILE_ROWS))
        shape = tuple(tiled.max_threads for tiled in tiled_axes)
        body = self._tile_body([integer(n, span) for n in shape], shape)
        tests = [tiled.is_full for tiled in tiled_axes if tiled.is_full is not None]
        if tests:
            is_full_tile = (
                tests[0] if len(tests) == 1 else logical(ir.LogicalOp.AND, tests[0], tests[1], span)
            )
            body = (ir.If(is_full_tile, body, self._partial_tile(shape, tiled_axes), span),)
        for tiled in reversed(tiled_axes):
            body = (replace(tiled.loop, body=body),)
        return body

    def _width(self) -> int:
        """Return the number of lanes of a tile."""
        element_sizes = sum(
            v.type.dtype.size for v in self._expanded_variables() if isinstance(v.type, Scalar)
        )
        return max(MIN_LANES, 1 << ((TILE_ROW_BYTES // element_sizes).bit_length() - 1))

    def _partial_tile(self, shape: tuple[int, ...], tiled_axes: list[_TiledAxis]) -> ir.Body:
        """Return a partial tile, whose loops end after the remaining threads of each axis."""
        counts: list[ir.Expr] = [integer(n, self.lane_loop.span) for n in shape]
        declarations: list[ir.Stmt] = []
        for n, ((index, _), tiled) in enumerate(zip(self._tile_indices(), tiled_axes)):
            if tiled.is_full is not None:
                remaining = replace(index, name=f"{index.name.removesuffix('_in.tile')}_left.tile")
                declarations.append(ir.Declare(remaining, tiled.count, index.span))
                counts[n] = remaining
        return (*declarations, *self._tile_body(counts, shape))

    def _tile_body(self, counts: Sequence[ir.Expr], shape: tuple[int, ...]) -> ir.Body:
        """Return the code of a tile with ``counts`` threads; ``shape`` is that of a full tile."""
        arrays = {v.name: _array(v, shape) for v in self._expanded_variables()}
        expansion = _ScalarExpansion(arrays, tuple(v for v, _ in self._tile_indices()))
        span = self.lane_loop.span
        prologue_loop = self._loop_over_tile(counts, expansion.expand(self.prologue))
        rematerialized = tuple(
            s for s in self.prologue if isinstance(s, ir.Declare) and s.var.name not in arrays
        )
        inner = self._loop_over_tile(
            counts,
            (
                *expansion.expand(rematerialized),
                *expansion.expand_around_branches((*self.inner_declarations, *self.body)),
            ),
        )
        for loop in reversed(self.loops):
            inner = replace(loop, body=(inner,))
        epilogue_loop = self._loop_over_tile(
            counts, expansion.expand((*rematerialized, *self.epilogue))
        )
        return (
            *(ir.Allocate(array, span) for array in arrays.values()),
            prologue_loop,
            inner,
            epilogue_loop,
        )

    def _tile_indices(self) -> Iterator[tuple[ir.Var, ir.AxisLoop]]:
        """Yield the index of a thread in the tile, for each axis."""
        for axis in (self.row_loop, self.lane_loop):
            if axis:
                yield replace(axis.var, name=f"{axis.var.name}_in.tile"), axis

    def _loop_over_tile(self, counts: Sequence[ir.Expr], body: ir.Body) -> ir.Stmt:
        """Run a body for each thread of the tile."""
        for (index, axis), count in reversed(list(zip(self._tile_indices(), counts))):
            position = binary(ADD, _first_index(axis), index, axis.span)
            row_declarations = () if axis is self.lane_loop else self.row_declarations
            body = (ir.Declare(axis.var, position, axis.span), *row_declarations, *body)
            zero, one = integer(0, axis.span), integer(1, axis.span)
            lockstep = axis is self.lane_loop
            body = (ir.AxisLoop(index, zero, count, one, body, lockstep, axis.span),)
        return body[0]


@dataclass(frozen=True, slots=True)
class _ScalarExpansion:
    """Scalar expansion: replace variables by elements of the tile's arrays."""

    arrays: dict[str, ir.Var]
    index: tuple[ir.Expr, ...]

    def expand(self, body: ir.Body) -> ir.Body:
        return walk.map_stmt(walk.map_expr(body, self._load), self._store)

    def expand_around_branches(self, body: ir.Body) -> ir.Body:
        """Expand, but keep variables that are assigned under conditions in scalars until the end.

        C compilers vectorize a selection of values more readily than a conditional store.
        """
        in_branches = (s for x in body if isinstance(x, ir.If) for s in walk.statements((x,)))
        scalars = {
            s.var.name: s.var
            for s in in_branches
            if isinstance(s, ir.Assign) and s.var.name in self.arrays
        }
        arrays = {name: array for name, array in self.arrays.items() if name not in scalars}
        loads = (ir.Declare(v, self._load(v), v.span) for v in scalars.values())
        stores = (x for v in scalars.values() for x in self._store(ir.Assign(v, v, v.span)))
        return (*loads, *replace(self, arrays=arrays).expand(body), *stores)

    def _load(self, e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Var) and e.name in self.arrays and isinstance(e.type, Scalar):
            return cast(ir.Load(self.arrays[e.name], self.index, e.span), e.type)
        return e

    def _store(self, s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Declare | ir.Assign) and s.var.name in self.arrays:
            array = self.arrays[s.var.name]
            (value,) = walk.operands(s)
            assert isinstance(array.type, Array)
            return (ir.Store(array, self.index, cast(value, array.type.element), s.span),)
        return (s,)


def _first_index(axis: ir.AxisLoop) -> ir.Var:
    return replace(axis.var, name=f"{axis.var.name}_first.tile")


def _array(v: ir.Var, shape: tuple[int, ...]) -> ir.Var:
    assert isinstance(v.type, Scalar)
    array_type = Array(v.type.dtype, len(shape), "C", MemorySpace.LOCAL, shape)
    return ir.Var(f"{v.name}.tile", array_type, v.span)


def trip_count(loop: ir.For) -> int | None:
    """Return the number of iterations of a loop with constant bounds, or None."""
    match loop.start, loop.stop, loop.step:
        case ir.Const(value=start), ir.Const(value=stop), ir.Const(value=step):
            return len(range(int(start), int(stop), int(step)))
        case _:
            return None

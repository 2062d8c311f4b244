"""CPU: an inner loop that all threads go through alike is put around them, four rows of threads by
256 bytes of each at a time, whose sums stay in registers.

``for i: for j: total = 0; for k: total += a[i, k] * b[k, j]; c[i, j] = total`` ->
``for i_first: for j_first: for i, j: total[i, j] = 0; for k: for i, j: total[i, j] += a[i, k] *
b[k, j]; for i, j: c[i, j] = total[i, j]``

It pays where the loop reads what lies side by side for neighbouring threads, and elsewhere in each
of its rounds: a thread alone would come to a new cache line each time, and use one number of it.
It pays, too, where the loop does nothing but compute what compilers make vectors of: each round of
a thread alone waits for the one before. Not where rounds are known and few, which compilers do as
well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.fp_contraction import may_be_contracted
from pycu2c.analysis.launch_assumptions import is_fixed
from pycu2c.analysis.live_across_barriers import declared_names, single_definitions
from pycu2c.analysis.simd_legality import LaneStrides
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir.builders import binary, cast, integer, logical
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    AxisLoop,
    Binary,
    Body,
    Cast,
    Const,
    Declare,
    Expr,
    For,
    If,
    Load,
    Logical,
    LogicalOp,
    Module,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    expressions,
    map_expr,
    map_stmt,
    operands,
    statements,
    with_bodies,
)
from pycu2c.ops.intrinsics.builtins import EXTREMES
from pycu2c.ops.operators import ADD, GE, SUB
from pycu2c.transforms.cpu.simd import divergent_loops

ROWS = 4
BYTES = 256  # of a row: with four rows, what 16 vectors of AVX-512 hold
LEAST = 16  # lanes, though each may keep much
FEW = 128  # rounds, if known: as far as that, compilers do as well by themselves


def tile_registers(module: Module) -> Module:
    """Put what loops there are around tiles of threads."""
    kernel = module.kernel
    return replace(module, kernel=replace(kernel, body=_block(kernel.body)))


def _block(body: Body) -> Body:
    out: list[Stmt] = []
    for s in body:
        tile = _tile(s)
        out += [with_bodies(s, tuple(map(_block, bodies(s))))] if tile is None else tile.placed()
    return tuple(out)


def _tile(s: Stmt) -> _Tile | None:
    """What becomes a tile: rows of threads, or one row alone."""
    match s:
        case AxisLoop(lockstep=True):
            return _tile_of(None, (), s)
        case AxisLoop(step=Const(value=1), body=(*before, AxisLoop(lockstep=True) as lanes)):
            above = tuple(x for x in before if isinstance(x, Declare) and _is_cheap(x.init))
            bounds = names_in(lanes.start, lanes.stop)
            if len(above) < len(before) or {s.var.name, *declared_names(above)} & set(bounds):
                return None
            return _tile_of(s, above, lanes)
        case _:
            return None


def _tile_of(rows: AxisLoop | None, above: Body, lanes: AxisLoop) -> _Tile | None:
    first = [i for i, x in enumerate(lanes.body) if not isinstance(x, Declare)]
    if not first or not isinstance(lanes.body[first[0]], For):
        return None
    loops: list[For] = []
    between: list[Stmt] = []
    body = lanes.body[first[0] : first[0] + 1]
    while body and isinstance(loop := body[-1], For):
        between += body[:-1]
        loops.append(loop)
        body = loop.body
    before, after = lanes.body[: first[0]], lanes.body[first[0] + 1 :]
    tile = _Tile(rows, above, lanes, before, tuple(loops), tuple(between), body, after)
    return tile if tile.is_sound() and tile.pays() else None


@dataclass(frozen=True, slots=True)
class _Piece:
    """Of an axis. ``loop`` goes over its pieces; ``is_full`` says whether one has as many threads
    as can be, which is None if all have, and ``count`` how many one has."""

    loop: For
    full: int
    is_full: Expr | None
    count: Expr


def _piece(axis: AxisLoop, most: int) -> _Piece:
    extent = _most(axis)
    if extent is not None:
        most = max(1, min(most, extent))
    fixed = isinstance(axis.stop, Const)
    first, full = _first(axis), integer(most, axis.span)
    left = binary(SUB, axis.stop, first, axis.span)
    count = Apply(EXTREMES[0], (full, left), WEAK_INT, axis.span)
    loop = For(first, axis.start, axis.stop, full, (), axis.span)
    even = fixed and extent is not None and extent % most == 0
    return _Piece(loop, most, None if even else binary(GE, left, full, axis.span), count)


def _most(axis: AxisLoop) -> int | None:
    """How many threads there are along an axis at most, if that is plain."""
    match axis.start, axis.stop:
        case Const(value=start), Const(value=stop):
            return int(stop) - int(start)
        case Const(value=start), Apply(intrinsic=row, arguments=given) if row is EXTREMES[0]:
            known = [int(e.value) - int(start) for e in given if isinstance(e, Const)]
            return min(known, default=None)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Tile:
    """``before``, ``between``: what is declared in front of the loops and in them; ``after``:
    what a thread does when they have ended."""

    rows: AxisLoop | None
    above: Body
    lanes: AxisLoop
    before: Body
    loops: tuple[For, ...]
    between: Body
    body: Body
    after: Body

    # ---- whether ----

    def is_sound(self) -> bool:
        """Whether the loops are the same for all threads, and do nothing but compute."""
        inside = tuple(statements(self.body))
        if not all(isinstance(s, Declare | Assign | If) for s in inside):
            return False
        if not all(isinstance(s, Declare) and self._is_same(s) for s in self.between):
            return False
        own = declared_names((*self.between, *self.body))
        changed = {s.var.name for s in inside if isinstance(s, Assign)} - own
        if not changed or not changed <= declared_names(self.before):
            return False
        if any(isinstance(s, Declare) and s.init is None for s in self.before):
            return False
        bounds = [e for loop in self.loops for e in (loop.start, loop.stop, loop.step)]
        return all(map(_is_cheap, bounds)) and not self._of_threads() & set(names_in(*bounds))

    def _of_threads(self) -> set[str]:
        """What differs from thread to thread."""
        places = {v.var.name for v in (self.rows, self.lanes) if v}
        return places | declared_names((*self.above, *self.before, *self.between, *self.body))

    def pays(self) -> bool:
        rounds = [_rounds(loop) for loop in self.loops]
        if None not in rounds and math.prod(r or 0 for r in rounds) < FEW:
            return False
        if divergent_loops.is_vectorizable((*self.between, *self.body)):
            return True
        values = single_definitions((*self.before, *self.between, *self.body))
        paces = LaneStrides(self.lanes.var.name, values, {v.name for v in self._kept()})
        moving = {loop.var.name for loop in self.loops}
        for name, value in values.items():
            if moving & set(names_in(value)):
                moving.add(name)
        loads = (e for e in all_expressions(self.body) if isinstance(e, Load))
        return any(
            paces.of(e.indices[-1]) == 1 and moving & set(names_in(*e.indices)) for e in loads
        )

    def _kept(self) -> list[Var]:
        """What each thread of the tile has an element of: sums, and what is not to be computed
        again."""
        return [s.var for s in self.before if isinstance(s, Declare) and not self._is_same(s)]

    def _is_same(self, s: Declare) -> bool:
        """Whether to compute a number again is cheap, and gives what it was."""
        changed = {x.var.name for x in statements(self.lanes.body) if isinstance(x, Assign)}
        asked = set(names_in(s.init)) if s.init is not None else set()
        return _is_cheap(s.init) and not changed & {s.var.name, *asked}

    # ---- the loops ----

    def placed(self) -> Body:
        span = self.lanes.span
        pieces = [_piece(self.lanes, self._width())]
        if self.rows:
            pieces.insert(0, _piece(self.rows, ROWS))
        full: list[Expr] = [integer(piece.full, span) for piece in pieces]
        body = self._work(full, full)
        tests = [piece.is_full for piece in pieces if piece.is_full is not None]
        if tests:
            whole = (
                tests[0] if len(tests) == 1 else logical(LogicalOp.AND, tests[0], tests[1], span)
            )
            body = (If(whole, body, self._partly(full, pieces), span),)
        for piece in reversed(pieces):
            body = (replace(piece.loop, body=body),)
        return body

    def _width(self) -> int:
        """How many lanes a tile has."""
        sizes = sum(v.type.dtype.size for v in self._kept() if isinstance(v.type, Scalar))
        return max(LEAST, 1 << ((BYTES // sizes).bit_length() - 1))

    def _partly(self, full: list[Expr], pieces: list[_Piece]) -> Body:
        """A tile in which some threads are none."""
        counts = list(full)
        said: list[Stmt] = []
        for n, ((here, _), piece) in enumerate(zip(self._places(), pieces)):
            if piece.is_full is not None:
                left = replace(here, name=f"{here.name.removesuffix('_in.tile')}_left.tile")
                said.append(Declare(left, piece.count, here.span))
                counts[n] = left
        return (*said, *self._work(counts, full))

    def _work(self, counts: list[Expr], full: list[Expr]) -> Body:
        """All that the threads of a tile do, of which there are so many."""
        shape = tuple(int(e.value) for e in full if isinstance(e, Const))
        arrays = {v.name: _array(v, shape) for v in self._kept()}
        made = _Kept(arrays, tuple(v for v, _ in self._places()))
        span = self.lanes.span
        begun = self._over(counts, made.stored(self.before))
        again = tuple(s for s in self.before if isinstance(s, Declare) and s.var.name not in arrays)
        inner = self._over(
            counts, (*made.stored(again), *made.fit_to_type((*self.between, *self.body)))
        )
        for loop in reversed(self.loops):
            inner = replace(loop, body=(inner,))
        ended = self._over(counts, made.stored((*again, *self.after)))
        return (*(Allocate(array, span) for array in arrays.values()), begun, inner, ended)

    def _places(self) -> Iterator[tuple[Var, AxisLoop]]:
        """The number of a thread in the tile, along each axis."""
        for axis in (self.rows, self.lanes):
            if axis:
                yield replace(axis.var, name=f"{axis.var.name}_in.tile"), axis

    def _over(self, counts: list[Expr], body: Body) -> Stmt:
        """A body for each thread of the tile."""
        for (here, axis), count in reversed(list(zip(self._places(), counts))):
            place = binary(ADD, _first(axis), here, axis.span)
            above = () if axis is self.lanes else self.above
            body = (Declare(axis.var, place, axis.span), *above, *body)
            zero, one = integer(0, axis.span), integer(1, axis.span)
            lockstep = axis is self.lanes
            body = (AxisLoop(here, zero, count, one, body, lockstep, axis.span),)
        return body[0]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Variables of threads whose values lie in arrays of the tile."""

    arrays: dict[str, Var]
    here: tuple[Expr, ...]

    def stored(self, body: Body) -> Body:
        return map_stmt(map_expr(body, self._loaded), self._set)

    def fit_to_type(self, body: Body) -> Body:
        """A body in which what is set under a condition is a variable, stored when it ends:
        compilers choose between two values sooner than whether to store one."""
        under = (s for x in body if isinstance(x, If) for s in statements((x,)))
        fit_to_type = {s.var.name: s.var for s in under if isinstance(s, Assign)}
        fit_to_type = {name: var for name, var in fit_to_type.items() if name in self.arrays}
        left = {name: array for name, array in self.arrays.items() if name not in fit_to_type}
        first = tuple(Declare(v, self._loaded(v), v.span) for v in fit_to_type.values())
        last = tuple(x for v in fit_to_type.values() for x in self._set(Assign(v, v, v.span)))
        return (*first, *replace(self, arrays=left).stored(body), *last)

    def _loaded(self, e: Expr) -> Expr:
        if isinstance(e, Var) and e.name in self.arrays and isinstance(e.type, Scalar):
            return cast(Load(self.arrays[e.name], self.here, e.span), e.type)
        return e

    def _set(self, s: Stmt) -> Body:
        if isinstance(s, Declare | Assign) and s.var.name in self.arrays:
            array = self.arrays[s.var.name]
            (value,) = operands(s)
            assert isinstance(array.type, Array)
            return (Store(array, self.here, cast(value, array.type.element), s.span),)
        return (s,)


def _first(axis: AxisLoop) -> Var:
    return replace(axis.var, name=f"{axis.var.name}_first.tile")


def _array(v: Var, shape: tuple[int, ...]) -> Var:
    assert isinstance(v.type, Scalar)
    kind = Array(v.type.dtype, len(shape), "C", MemorySpace.LOCAL, shape)
    return Var(f"{v.name}.tile", kind, v.span)


def _rounds(loop: For) -> int | None:
    match loop.start, loop.stop, loop.step:
        case Const(value=start), Const(value=stop), Const(value=step):
            return len(range(int(start), int(stop), int(step)))
        case _:
            return None


def _is_cheap(e: Expr | None) -> bool:
    """Whether to compute a number again is as good as to keep it."""
    return e is not None and all(map(_is_cheap_node, expressions(e)))


def _is_cheap_node(e: Expr) -> bool:
    if isinstance(e, Apply):
        return is_fixed(e.intrinsic) or e.intrinsic in EXTREMES
    known = isinstance(e, Const | Var | Binary | Unary | Cast | Select | Logical)
    return known and not may_be_contracted(e)

"""In which order threads are walked along the axes of the block: so that what follows each other in
memory is come to one after the other. Estimates; what it says changes no result.

``i, j = cuda.grid(2); out[i, j] = 1`` -> y innermost, then x.

The innermost axis is the one along which fewest cache lines are touched, if it is clearly better
than x; of the others, who leads farthest through memory stands outermost. Lengths that are not
known count as ``LENGTH``, what stands in a loop counts as ``ROUNDS`` times, and a store as two
loads: a line is read before it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, Space
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Body,
    Cast,
    Const,
    Declare,
    ElementOf,
    Expr,
    For,
    Load,
    Parameter,
    Part,
    Select,
    Stmt,
    Store,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, bodies, children, expressions, operands, statements
from pycu2c.ops.intrinsics.builtins import EXTREMES, OPERATOR_ROWS
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, GRID, PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.ops.operators import ADD, MOD, MUL, QUOTIENT, REMAINDER, SUB

LENGTH = 1000.0
ROUNDS = 8.0
LINE = 64  # bytes
CLEARLY = 0.75  # of the lines along x: what is hardly better is not worth another order
FAR = 1e9  # how far apart neighbours are whose places do not follow from theirs

Extents = Sequence[int | None]  # of a block; None where it may be any
_KEEPS_PLACE = (*EXTREMES, OPERATOR_ROWS[MOD])


@dataclass(frozen=True, slots=True)
class Walk:
    """The numbers of the axes, innermost first. ``tiled``: some access steps from line to line,
    and comes back to these along another axis: before it has gone far, if blocks are run one by
    one."""

    order: tuple[int, int, int]
    tiled: bool


def walking_order(
    body: Body,
    values: Mapping[str, Expr],
    parameters: Mapping[str, Parameter],
    extents: Extents,
    least: int,
) -> Walk:
    """How to walk through a body. ``values`` are those of variables from outside of it; no axis
    with fewer than ``least`` threads comes before x."""
    own = {s.var.name: s.init for s in statements(body) if isinstance(s, Declare) and s.init}
    known = {**values, **own}
    costs = [_Along(axis, known, parameters, extents).cost(body) for axis in range(3)]
    asked = _asked(body)
    inner = 0
    for axis in (1, 2):
        extent = extents[axis]
        wide = axis in asked and (extent is None or extent >= least)
        if wide and costs[axis].lines < CLEARLY * costs[inner].lines:
            inner = axis
    outer = sorted({0, 1, 2} - {inner}, key=lambda axis: (axis not in asked, costs[axis].distance))
    tiled = any(
        one >= LINE and any(0 < other < LINE for other in others)
        for one, *others in zip(costs[inner].ways, *(costs[axis].ways for axis in outer))
    )
    return Walk((inner, outer[0], outer[1]), tiled)


def _asked(body: Body) -> set[int]:
    """The axes along which threads ask for their place."""
    rows = {e.intrinsic for e in all_expressions(body) if isinstance(e, Apply)}
    return {n for n in range(3) if {GRID[n], PLACES["threadIdx", AXES[n]]} & rows}


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of one step along an axis: the cache lines that are touched, and how far each access is led
    through memory, in bytes."""

    lines: float
    ways: tuple[float, ...]

    @property
    def distance(self) -> float:
        return sum(self.ways)


@dataclass(slots=True)
class _Along:
    """How memory is come to along one axis."""

    axis: int
    values: Mapping[str, Expr]
    parameters: Mapping[str, Parameter]
    extents: Extents
    moves: dict[Intrinsic, float] = field(default_factory=dict)  # of coordinates, by one step
    found: dict[str, float | None] = field(default_factory=dict)  # of variables

    def __post_init__(self) -> None:
        self.moves = {GRID[self.axis]: 1.0, PLACES["threadIdx", AXES[self.axis]]: 1.0}
        threads = 1.0
        for extent in self.extents[: self.axis]:
            threads *= extent or LENGTH
        self.moves[block_thread] = threads

    def cost(self, body: Body) -> _Cost:
        lines, ways = 0.0, []
        for array, indices, weight, writes in _accesses(body, 1.0):
            assert isinstance(array.type, Array)
            if array.type.space is Space.BLOCK:
                continue  # what threads keep across a barrier is near, wherever it is
            step = self._step(array.type, indices)
            way = FAR if step is None else min(abs(step) * array.type.dtype.size, FAR)
            touched = min(way / LINE, 1.0)
            if writes:
                touched = 2 * touched if way else 2.0  # one place for all is stored to anew
            lines += weight * touched
            ways.append(way)
        return _Cost(lines, tuple(ways))

    def _step(self, kind: Array, indices: tuple[Expr, ...]) -> float | None:
        total = 0.0
        for axis, index in enumerate(indices):
            step = self.of(index)
            if step is None:
                return None
            for length in (kind.shape or ())[axis + 1 :]:
                step *= length
            total += step
        return total

    def of(self, e: Expr) -> float | None:
        """By how much a whole number grows with one step; None if that is not plain."""
        match e:
            case Const():
                return 0.0
            case Var(name=name):
                return self._variable(name)
            case Cast(operand=operand):
                return self.of(operand)
            case Apply(intrinsic=row) if row in self.moves:
                return self.moves[row]
            case Apply(intrinsic=row, arguments=arguments) if row in _KEEPS_PLACE:
                return self._one_of(arguments)
            case Select(then=then, orelse=orelse):
                return self._one_of((then, orelse))
            case Binary(op=op, left=left, right=right) if op in (ADD, SUB):
                a, b = self.of(left), self.of(right)
                return None if a is None or b is None else (a + b if op is ADD else a - b)
            case Binary(op=op) if op in (MUL, QUOTIENT, REMAINDER):
                return self._scaled(e)
            case _:
                return 0.0 if all(self.of(x) == 0.0 for x in children(e)) else None

    def _variable(self, name: str) -> float | None:
        if name not in self.found:
            self.found[name] = None  # for one that follows from itself
            value = self.values.get(name)
            self.found[name] = 0.0 if value is None else self.of(value)
        return self.found[name]

    def _one_of(self, given: Sequence[Expr]) -> float | None:
        """Of several that are nearly the same, as an index and the border that it is kept from."""
        steps = [self.of(e) for e in given]
        known = [step for step in steps if step is not None]
        return max(known, key=abs) if len(known) == len(steps) else None

    def _scaled(self, e: Binary) -> float | None:
        a, b = self.of(e.left), self.of(e.right)
        if a is None or b is None or (a and b):
            return None
        if not a and not b:
            return 0.0
        if e.op is MUL:
            return a * self._size(e.right) + b * self._size(e.left)
        if b:
            return None
        return a / self._size(e.right) if e.op is QUOTIENT else a

    def _size(self, e: Expr) -> float:
        """About how much a number is that no step changes."""
        match e:
            case Const(value=value):
                return abs(float(value)) or 1.0
            case Cast(operand=operand):
                return self._size(operand)
            case Binary(op=op, left=left, right=right) if op is MUL:
                return self._size(left) * self._size(right)
            case Var(name=name) if name in self.values:
                return self._size(self.values[name])
            case Var(name=name) if name in self.parameters:
                return self._usual(self.parameters[name])
            case _:
                return LENGTH

    def _usual(self, p: Parameter) -> float:
        """Most arrays lie row by row."""
        if p.part is not Part.STRIDE:
            return LENGTH
        after = [q.axis - p.axis for q in self.parameters.values() if q.argument == p.argument]
        return LENGTH ** max(after)


Access = tuple[Var, tuple[Expr, ...], float, bool]


def _accesses(body: Body, weight: float) -> Iterator[Access]:
    """The arrays that come to be read or written, where, how often, and whether written."""
    for s in body:
        for value in operands(s):
            for e in expressions(value):
                if isinstance(e, Load | ElementOf):
                    yield e.array, e.indices, weight, isinstance(e, ElementOf)
        if isinstance(s, Store):
            yield s.array, s.indices, weight, True
        for inner in bodies(s):
            yield from _accesses(inner, weight * _rounds(s))


def _rounds(s: Stmt) -> float:
    return ROUNDS if isinstance(s, For | While) else 1.0

"""Choose the order of the loops over the axes of a block so that inner loops access memory densely.

``i, j = cuda.grid(2); out[i, j] = 1`` -> y innermost, then x.

A cost model estimates the number of cache lines that one step along each axis touches. The axis
with the fewest lines becomes the innermost one if it is clearly better than x. The other axes
follow by the length of their strides, the longest outermost. Unknown lengths count as
``ASSUMED_LENGTH``, loop bodies as ``ASSUMED_TRIP_COUNT`` executions, and a store as two loads
(write-allocate). The result affects performance only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, children, own_accesses, statements
from pycu2c.ops.intrinsics.builtins import MIN_MAX_INTRINSICS, OPERATOR_INTRINSICS
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES, GRID
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import ADD, C_DIV, C_REM, MOD, MUL, SUB

ASSUMED_LENGTH = 1000.0
ASSUMED_TRIP_COUNT = 8.0
CACHE_LINE = 64  # bytes
MIN_IMPROVEMENT = 0.75  # of the lines along x
UNKNOWN_STRIDE = 1e9  # bytes; the stride of an access that the model cannot analyze

Extents = Sequence[int | None]  # of a block; None where it is unknown
_STRIDE_PRESERVING = (*MIN_MAX_INTRINSICS, OPERATOR_INTRINSICS[MOD])


@dataclass(frozen=True, slots=True)
class AxisOrder:
    """Loop order of the axes, innermost first.

    ``tiled``: an access steps from line to line along the innermost axis, but stays within a line
    along another one. Running tile by tile then reuses the lines while they are in cache.
    """

    order: tuple[int, int, int]
    tiled: bool


def choose_axis_order(
    body: ir.Body,
    values: Mapping[str, ir.Expr],
    parameters: Mapping[str, ir.Parameter],
    extents: Extents,
    min_threads: int,
) -> AxisOrder:
    """Return the axis order for a body.

    ``values`` holds the definitions of variables outside the body. An axis with fewer than
    ``min_threads`` threads never replaces x.
    """
    local_definitions = {
        s.var.name: s.init for s in statements(body) if isinstance(s, ir.Declare) and s.init
    }
    definitions = {**values, **local_definitions}
    accesses = list(_accesses(body, 1.0))
    costs = [
        _AxisCostModel(axis, definitions, parameters, extents).cost(accesses) for axis in range(3)
    ]
    used = _used_axes(body)
    innermost = 0
    for axis in (1, 2):
        extent = extents[axis]
        is_wide = axis in used and (extent is None or extent >= min_threads)
        if is_wide and costs[axis].lines < MIN_IMPROVEMENT * costs[innermost].lines:
            innermost = axis
    outer = sorted(
        {0, 1, 2} - {innermost}, key=lambda axis: (axis not in used, costs[axis].distance)
    )
    tiled = any(
        stride >= CACHE_LINE and any(0 < other < CACHE_LINE for other in outer_strides)
        for stride, *outer_strides in zip(
            costs[innermost].strides, *(costs[axis].strides for axis in outer)
        )
    )
    return AxisOrder((innermost, outer[0], outer[1]), tiled)


def _used_axes(body: ir.Body) -> set[int]:
    """Return the axes whose coordinates the body reads."""
    intrinsics = {e.intrinsic for e in all_expressions(body) if isinstance(e, ir.Apply)}
    return {n for n in range(3) if {GRID[n], COORDINATES["threadIdx", AXES[n]]} & intrinsics}


@dataclass(frozen=True, slots=True)
class _Cost:
    """Cost of one step along an axis: cache lines touched, and strides of the accesses in bytes."""

    lines: float
    strides: tuple[float, ...]

    @property
    def distance(self) -> float:
        return sum(self.strides)


@dataclass(slots=True)
class _AxisCostModel:
    """Estimate the memory strides along one axis."""

    axis: int
    values: Mapping[str, ir.Expr]
    parameters: Mapping[str, ir.Parameter]
    extents: Extents
    # changes of coordinates and variables per step along the axis
    coordinate_strides: dict[Intrinsic, float] = field(default_factory=dict)
    variable_strides: dict[str, float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.coordinate_strides = {
            GRID[self.axis]: 1.0,
            COORDINATES["threadIdx", AXES[self.axis]]: 1.0,
        }
        linear_stride = 1.0
        for extent in self.extents[: self.axis]:
            linear_stride *= extent or ASSUMED_LENGTH
        self.coordinate_strides[linear_thread_index] = linear_stride

    def cost(self, accesses: Sequence[tuple[ir.Access, float]]) -> _Cost:
        lines, strides = 0.0, []
        for access, weight in accesses:
            array = access.array
            assert isinstance(array.type, Array)
            if array.type.space is MemorySpace.BLOCK:
                continue  # context arrays stay in cache
            step = self._step(array.type, access.indices)
            stride = (
                UNKNOWN_STRIDE
                if step is None
                else min(abs(step) * array.type.dtype.size, UNKNOWN_STRIDE)
            )
            touched = min(stride / CACHE_LINE, 1.0)
            if not isinstance(access, ir.Load):
                touched = 2 * touched if stride else 2.0  # all threads store to the same element
            lines += weight * touched
            strides.append(stride)
        return _Cost(lines, tuple(strides))

    def _step(self, array_type: Array, indices: tuple[ir.Expr, ...]) -> float | None:
        stride = 0.0
        for axis, index in enumerate(indices):
            step = self.stride_of(index)
            if step is None:
                return None
            for length in (array_type.shape or ())[axis + 1 :]:
                step *= length
            stride += step
        return stride

    def stride_of(self, e: ir.Expr) -> float | None:
        """Return the change of an integer per step along the axis; None if it is unknown."""
        match e:
            case ir.Const():
                return 0.0
            case ir.Var(name=name):
                return self._variable(name)
            case ir.Cast(operand=operand):
                return self.stride_of(operand)
            case ir.Apply(intrinsic=intrinsic) if intrinsic in self.coordinate_strides:
                return self.coordinate_strides[intrinsic]
            case ir.Apply(intrinsic=intrinsic, arguments=arguments) if (
                intrinsic in _STRIDE_PRESERVING
            ):
                return self._stride_of_alternatives(arguments)
            case ir.Select(then=then, orelse=orelse):
                return self._stride_of_alternatives((then, orelse))
            case ir.Binary(op=op, left=left, right=right) if op in (ADD, SUB):
                a, b = self.stride_of(left), self.stride_of(right)
                return None if a is None or b is None else (a + b if op is ADD else a - b)
            case ir.Binary(op=op) if op in (MUL, C_DIV, C_REM):
                return self._scaled_stride(e)
            case _:
                return 0.0 if all(self.stride_of(x) == 0.0 for x in children(e)) else None

    def _variable(self, name: str) -> float | None:
        if name not in self.variable_strides:
            self.variable_strides[name] = None  # guards against recursive definitions
            value = self.values.get(name)
            self.variable_strides[name] = 0.0 if value is None else self.stride_of(value)
        return self.variable_strides[name]

    def _stride_of_alternatives(self, alternatives: Sequence[ir.Expr]) -> float | None:
        """Return the largest stride of alternatives such as an index and its clamping bound."""
        steps = [self.stride_of(e) for e in alternatives]
        known_steps = [step for step in steps if step is not None]
        return max(known_steps, key=abs) if len(known_steps) == len(steps) else None

    def _scaled_stride(self, e: ir.Binary) -> float | None:
        a, b = self.stride_of(e.left), self.stride_of(e.right)
        if a is None or b is None or (a and b):
            return None
        if not a and not b:
            return 0.0
        if e.op is MUL:
            return a * self._magnitude(e.right) + b * self._magnitude(e.left)
        if b:
            return None
        return a / self._magnitude(e.right) if e.op is C_DIV else a

    def _magnitude(self, e: ir.Expr) -> float:
        """Estimate the magnitude of a loop-invariant number."""
        match e:
            case ir.Const(value=value):
                return abs(float(value)) or 1.0
            case ir.Cast(operand=operand):
                return self._magnitude(operand)
            case ir.Binary(op=op, left=left, right=right) if op is MUL:
                return self._magnitude(left) * self._magnitude(right)
            case ir.Var(name=name) if name in self.values:
                return self._magnitude(self.values[name])
            case ir.Var(name=name) if name in self.parameters:
                return self._parameter_magnitude(self.parameters[name])
            case _:
                return ASSUMED_LENGTH

    def _parameter_magnitude(self, p: ir.Parameter) -> float:
        """Estimate a parameter; strides are assumed to be those of C-contiguous arrays."""
        if p.part is not ir.ArgumentPart.STRIDE:
            return ASSUMED_LENGTH
        axis_distances = [
            q.axis - p.axis for q in self.parameters.values() if q.argument == p.argument
        ]
        return ASSUMED_LENGTH ** max(axis_distances)


def _accesses(body: ir.Body, weight: float) -> Iterator[tuple[ir.Access, float]]:
    """Yield each access and its execution weight."""
    for s in body:
        yield from ((access, weight) for access in own_accesses(s))
        for inner in bodies(s):
            yield from _accesses(inner, weight * _trip_count(s))


def _trip_count(s: ir.Stmt) -> float:
    return ASSUMED_TRIP_COUNT if isinstance(s, ir.For | ir.While) else 1.0

"""Compute the iteration spaces of a reduction, and partition its work into blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.iteration_space import IterationSpace, iteration_space
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape

_GPU_THREADS, _BLOCKS_OF_ONE = 256, 8  # threads per block; blocks per multiprocessor
_CPU_PART = 1 << 14  # elements of a block on the CPU
CPU_COLUMNS = 2048  # maximum columns of a block
_FEW = 64  # rows, or groups of columns, that do not occupy all cores


@dataclass(frozen=True, slots=True)
class ReductionAxes:
    """The iteration spaces of the kept and of the reduced axes.

    The strides are those of the inputs; those of the kept axes also include the outputs.
    """

    kept: IterationSpace
    reduced: IterationSpace

    @property
    def rows(self) -> int:
        return math.prod(self.kept.shape)

    @property
    def length(self) -> int:
        return math.prod(self.reduced.shape)


def reduction_axes(
    shape: Shape,
    inputs: Sequence[Shape],
    outputs: Sequence[Shape],
    reduced: Sequence[int],
    *,
    in_order: bool,
    join: bool,
) -> ReductionAxes:
    """Return the iteration spaces; ``outputs``: strides of results along the kept axes."""
    kept = [axis for axis in range(len(shape)) if axis not in reduced]

    def chosen(axes: Sequence[int], strides: Shape) -> Shape:
        return tuple(strides[axis] for axis in axes)

    of_kept = [*outputs, *(chosen(kept, s) for s in inputs)]
    along = iteration_space(chosen(kept, shape), of_kept, in_order=in_order, join=join)
    count = len(outputs)
    moved = IterationSpace(along.shape, (*along.strides[count:], *along.strides[:count]))
    over = [chosen(reduced, s) for s in inputs]
    return ReductionAxes(
        moved, iteration_space(chosen(reduced, shape), over, in_order=in_order, join=join)
    )


def reduces_columns(axes: ReductionAxes, inputs: int) -> bool:
    """Return whether neighbors in memory belong to different results."""
    if axes.rows == 1 or axes.length <= 1:
        return False
    by_kept = _least(axes.kept.strides[:inputs])
    return by_kept < _least(axes.reduced.strides)


def _least(strides: Sequence[Shape]) -> int:
    return min((abs(step) for s in strides for step in s if step), default=1 << 62)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of the work: groups of rows, each in ``splits`` parts of ``piece`` elements.

    ``lanes`` and ``pack`` are those of the form.
    """

    blocks: int
    splits: int
    piece: int
    group: int
    lanes: int
    pack: int = 1


def partition_for_cpu(axes: ReductionAxes, columns: bool) -> Partition:
    rows, length = axes.rows, axes.length
    if columns:
        groups = rows // axes.kept.shape[-1] * -(-axes.kept.shape[-1] // CPU_COLUMNS)
        beside = min(axes.kept.shape[-1], CPU_COLUMNS)
        piece = max(4 * _CPU_PART // beside, -(-length // (_FEW // 2)))
        splits = -(-length // piece) if groups < _FEW else 1
        piece = piece if splits > 1 else length
        return Partition(groups * splits, splits, piece, 1, 1)
    lanes = 64 if length >= 512 else 32 if length >= 64 else 1
    if rows < _FEW and length > 2 * _CPU_PART:
        splits = -(-length // _CPU_PART)
        return Partition(rows * splits, splits, _CPU_PART, 1, lanes)
    group = max(1, _CPU_PART // max(length, 1))
    return Partition(-(-rows // group), 1, max(length, 1), group, lanes)


def partition_for_gpu(
    axes: ReductionAxes, columns: bool, pack: int, itemsize: int, processors: int
) -> Partition:
    """Partition for a GPU; ``itemsize``: size of the smallest elements."""
    rows, length, wanted = axes.rows, axes.length, processors * _BLOCKS_OF_ONE
    if columns:
        lanes = min(_power_of_two(axes.kept.shape[-1]), max(32, 128 // itemsize))
        groups, beside = -(-rows // lanes), _GPU_THREADS // lanes
        splits = max(1, min(-(-wanted // groups), length // (beside * 8)))
        return Partition(groups * splits, splits, length, 1, lanes)
    steps = -(-length // pack)
    if steps >= 1024 or (rows < wanted and steps > 128):
        splits = max(1, min(wanted // rows, steps // (_GPU_THREADS * 4)))
        return Partition(rows * splits, splits, length, 1, _GPU_THREADS, pack)
    lanes = min(32, _power_of_two(steps))
    return Partition(-(-rows * lanes // _GPU_THREADS), 1, length, 1, lanes, pack)


def _power_of_two(count: int) -> int:
    """Return the next power of 2 that is not less."""
    return 1 << max(count - 1, 0).bit_length()


def vector_width(axes: ReductionAxes, arrays: Sequence[ArrayArgument]) -> int:
    """Return how many elements of each array fit in 16 bytes; 1 if rows are not contiguous and
    aligned."""
    if len(axes.reduced.shape) != 1:
        return 1
    moving = [
        (array, kept)
        for array, kept, (step,) in zip(arrays, axes.kept.strides, axes.reduced.strides)
        if step
    ]
    steps = [s for (s,) in axes.reduced.strides if s]
    if not moving or steps != [array.dtype.size for array, _ in moving]:
        return 1
    pack = 16 // max(steps)
    for array, kept in moving:
        size = pack * array.dtype.size
        if array.address % size or any(step % size for step in kept):
            return 1
    return pack if axes.length >= 32 * pack else 1

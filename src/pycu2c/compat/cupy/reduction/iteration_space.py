"""Compute the iteration spaces of a reduction, and partition its work into blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.iteration_space import IterationSpace, iteration_space
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape

_GPU_THREADS, _BLOCKS_PER_MULTIPROCESSOR = 256, 8
_CPU_BLOCK_ELEMENTS = 1 << 14
CPU_COLUMNS = 2048  # maximum columns of a block
_MIN_BLOCKS = 64  # with fewer rows or groups of columns, rows are split to occupy all cores


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
    merge_axes: bool,
) -> ReductionAxes:
    """Return the iteration spaces; ``outputs``: strides of results along the kept axes."""
    kept = [axis for axis in range(len(shape)) if axis not in reduced]

    def select(axes: Sequence[int], strides: Shape) -> Shape:
        return tuple(strides[axis] for axis in axes)

    # the last array, an input, determines the order of the axes
    kept_strides = [*outputs, *(select(kept, s) for s in inputs)]
    space = iteration_space(
        select(kept, shape), kept_strides, in_order=in_order, merge_axes=merge_axes
    )
    count = len(outputs)
    kept_space = IterationSpace(space.shape, (*space.strides[count:], *space.strides[:count]))
    reduced_strides = [select(reduced, s) for s in inputs]
    return ReductionAxes(
        kept_space,
        iteration_space(
            select(reduced, shape), reduced_strides, in_order=in_order, merge_axes=merge_axes
        ),
    )


def reduces_columns(axes: ReductionAxes, inputs: int) -> bool:
    """Return whether neighbors in memory belong to different results."""
    if axes.rows == 1 or axes.length <= 1:
        return False
    return _min_stride(axes.kept.strides[:inputs]) < _min_stride(axes.reduced.strides)


def _min_stride(strides: Sequence[Shape]) -> int:
    return min((abs(stride) for s in strides for stride in s if stride), default=1 << 62)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of the work: groups of rows, each in ``splits`` parts of ``piece`` elements.

    ``lanes`` and ``pack`` are those of ReductionSpec; ``group`` is the number of rows of a group.
    """

    blocks: int
    splits: int
    piece: int
    group: int
    lanes: int
    pack: int = 1


def partition_for_cpu(axes: ReductionAxes, by_columns: bool) -> Partition:
    """Partition for the thread pool of the CPU."""
    rows, length = axes.rows, axes.length
    if by_columns:
        groups = rows // axes.kept.shape[-1] * -(-axes.kept.shape[-1] // CPU_COLUMNS)
        columns_of_block = min(axes.kept.shape[-1], CPU_COLUMNS)
        piece = max(4 * _CPU_BLOCK_ELEMENTS // columns_of_block, -(-length // (_MIN_BLOCKS // 2)))
        splits = -(-length // piece) if groups < _MIN_BLOCKS else 1
        piece = piece if splits > 1 else length
        return Partition(groups * splits, splits, piece, 1, 1)
    lanes = 64 if length >= 512 else 32 if length >= 64 else 1
    if rows < _MIN_BLOCKS and length > 2 * _CPU_BLOCK_ELEMENTS:
        splits = -(-length // _CPU_BLOCK_ELEMENTS)
        return Partition(rows * splits, splits, _CPU_BLOCK_ELEMENTS, 1, lanes)
    group = max(1, _CPU_BLOCK_ELEMENTS // max(length, 1))
    return Partition(-(-rows // group), 1, max(length, 1), group, lanes)


def partition_for_gpu(
    axes: ReductionAxes, by_columns: bool, pack: int, itemsize: int, processors: int
) -> Partition:
    """Partition for a GPU; ``itemsize``: size of the smallest elements."""
    rows, length = axes.rows, axes.length
    target_blocks = processors * _BLOCKS_PER_MULTIPROCESSOR
    if by_columns:
        lanes = min(_power_of_two(axes.kept.shape[-1]), max(32, 128 // itemsize))
        groups, threads_per_column = -(-rows // lanes), _GPU_THREADS // lanes
        splits = max(1, min(-(-target_blocks // groups), length // (threads_per_column * 8)))
        return Partition(groups * splits, splits, length, 1, lanes)
    steps = -(-length // pack)
    if steps >= 1024 or (rows < target_blocks and steps > 128):
        splits = max(1, min(target_blocks // rows, steps // (_GPU_THREADS * 4)))
        return Partition(rows * splits, splits, length, 1, _GPU_THREADS, pack)
    lanes = min(32, _power_of_two(steps))
    return Partition(-(-rows * lanes // _GPU_THREADS), 1, length, 1, lanes, pack)


def _power_of_two(count: int) -> int:
    """Return the least power of 2 that is at least ``count``."""
    return 1 << max(count - 1, 0).bit_length()


def vector_width(axes: ReductionAxes, arrays: Sequence[ArrayArgument]) -> int:
    """Return how many elements of each array fit in 16 bytes; 1 if rows are not contiguous and
    aligned."""
    if len(axes.reduced.shape) != 1:
        return 1
    varying = [
        (array, kept)
        for array, kept, (stride,) in zip(arrays, axes.kept.strides, axes.reduced.strides)
        if stride
    ]
    strides = [s for (s,) in axes.reduced.strides if s]
    if not varying or strides != [array.dtype.size for array, _ in varying]:
        return 1
    pack = 16 // max(strides)
    for array, kept in varying:
        size = pack * array.dtype.size
        if array.address % size or any(stride % size for stride in kept):
            return 1
    return pack if axes.length >= 32 * pack else 1

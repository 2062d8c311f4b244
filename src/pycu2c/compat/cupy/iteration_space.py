"""Compute the iteration space of a kernel: merged axes, and the strides of arrays along them."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.bound_parameters import StrideKind
from pycu2c.devices import view_geometry
from pycu2c.devices.view_geometry import MergedAxis
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class IterationSpace:
    """The lengths of the axes, at least one, and the strides in bytes of each array."""

    shape: Shape
    strides: tuple[Shape, ...]


def iteration_space(
    shape: Shape, strides: Sequence[Shape], *, in_order: bool, merge_axes: bool
) -> IterationSpace:
    """Return the iteration space of arrays with a common shape.

    in_order: keep the axes in C order; otherwise they follow the memory order of the last array,
    which is an output. merge_axes: merge axes that are contiguous in all arrays.
    """
    axes = list(range(len(shape)))
    if not in_order and strides:
        axes.sort(key=lambda axis: -abs(strides[-1][axis]))
    ordered = tuple(shape[axis] for axis in axes)
    reordered = tuple(tuple(s[axis] for axis in axes) for s in strides)
    if not merge_axes:
        return IterationSpace(ordered or (1,), tuple(s or (0,) for s in reordered))
    merged = view_geometry.merged_axes(ordered, *reordered) or [MergedAxis(1, (0,) * len(strides))]
    return IterationSpace(
        tuple(axis.extent for axis in merged), tuple(zip(*(axis.strides for axis in merged)))
    )


def stride_kinds(strides: Shape, itemsize: int, last: int) -> tuple[StrideKind, ...]:
    """Classify the strides of an array; ``last`` is the contiguous axis."""
    kinds: list[StrideKind] = []
    for axis, stride in enumerate(strides):
        is_unit = stride == itemsize and axis == last
        kinds.append("broadcast" if stride == 0 else "unit" if is_unit else "strided")
    return tuple(kinds)


def needs_64_bit_index(space: IterationSpace, itemsizes: Sequence[int], size: int) -> bool:
    """Return whether element offsets or the number of elements exceed 32 bits."""
    max_offsets = [
        sum((n - 1) * abs(s) for n, s in zip(space.shape, strides)) // itemsize
        for strides, itemsize in zip(space.strides, itemsizes)
    ]
    return max(size, *max_offsets, 0) >= INDEX32_LIMIT


def may_overwrite(source: ArrayArgument, target: ArrayArgument) -> bool:
    """Return whether a write to ``target`` may precede a read of the same memory in ``source``."""
    if source.address == target.address and source.strides == target.strides:
        return False
    (source_start, source_size), (target_start, target_size) = source.region, target.region
    if source_size <= 0 or target_size <= 0:
        return False
    return source_start < target_start + target_size and target_start < source_start + source_size

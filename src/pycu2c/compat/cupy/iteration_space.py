"""How a kernel walks over its arrays: axes as few as they can be, and the steps along them."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.bound_parameters import Step
from pycu2c.devices import view_geometry
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class Walk:
    """The lengths of axes, one at least, and for each array its strides in bytes."""

    shape: Shape
    strides: tuple[Shape, ...]


def walk(shape: Shape, strides: Sequence[Shape], *, in_order: bool, join: bool) -> Walk:
    """A walk over arrays that fill a shape. If it need not be in C's order, it follows the memory
    of the last array, which is written."""
    axes = list(range(len(shape)))
    if not in_order and strides:
        axes.sort(key=lambda axis: -abs(strides[-1][axis]))
    ordered = tuple(shape[axis] for axis in axes)
    steps = tuple(tuple(s[axis] for axis in axes) for s in strides)
    if not join:
        return Walk(ordered or (1,), tuple(s or (0,) for s in steps))
    found = view_geometry.joined(ordered, steps) or [(1, (0,) * len(strides))]
    return Walk(
        tuple(extent for extent, _ in found),
        tuple(tuple(s[k] for _, s in found) for k in range(len(strides))),
    )


def steps_of(strides: Shape, itemsize: int, last: int) -> tuple[Step, ...]:
    """What the text says of the strides of an array; ``last`` is the axis of near elements."""
    kinds: list[Step] = []
    for axis, step in enumerate(strides):
        is_near = step == itemsize and axis == last
        kinds.append("none" if step == 0 else "unit" if is_near else "any")
    return tuple(kinds)


def is_wide(walked: Walk, itemsizes: Sequence[int], size: int) -> bool:
    """Whether 32 bits do not hold the places of all elements."""
    reaches = [
        sum((n - 1) * abs(s) for n, s in zip(walked.shape, strides)) // itemsize
        for strides, itemsize in zip(walked.strides, itemsizes)
    ]
    return max(size, *reaches) >= INDEX32_LIMIT if reaches else size >= INDEX32_LIMIT


def may_disturb(source: ArrayArgument, target: ArrayArgument) -> bool:
    """Whether writing an array may change elements of another one before they are read."""
    if source.address == target.address and source.strides == target.strides:
        return False
    (first, size), (other, length) = source.region, target.region
    return size > 0 and length > 0 and first < other + length and other < first + size

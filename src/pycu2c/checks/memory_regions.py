"""Which arguments of a launch share memory, and how many bytes have a shadow cell there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain

from pycu2c.base.records import dataclass
from pycu2c.checks.element_layout import leaves, unit_of
from pycu2c.runtime.arguments.array_argument import ArrayArgument


@dataclass(frozen=True, slots=True)
class MemoryRegion:
    """The memory of an array argument, or of several ones that overlap.

    offsets: of the first elements of the arguments, in bytes, with their positions.
    unit: the bytes that one shadow cell is for. size: in bytes.
    """

    offsets: tuple[tuple[int, int], ...]
    unit: int
    size: int


def memory_regions(arguments: Mapping[int, ArrayArgument]) -> Iterator[MemoryRegion]:
    """Yield the regions of the arguments of a launch, by their positions, in this order."""
    groups: list[list[int]] = []
    stop = 0
    for (start, size), position in sorted((a.region, n) for n, a in arguments.items()):
        if not groups or start >= stop:
            groups.append([])
            stop = start + size
        stop = max(stop, start + size)
        groups[-1].append(position)
    for group in sorted(map(sorted, groups)):
        yield _region({position: arguments[position] for position in group})


def _region(group: Mapping[int, ArrayArgument]) -> MemoryRegion:
    regions = [a.region for a in group.values()]
    start, stop = min(regions)[0], max(start + size for start, size in regions)
    offsets = {position: a.address - start for position, a in group.items()}
    unit = math.gcd(*offsets.values(), *chain.from_iterable(map(_steps, group.values())))
    return MemoryRegion(tuple(offsets.items()), unit, stop - start)


def _steps(array: ArrayArgument) -> Iterator[int]:
    """Yield numbers of bytes that are multiples of the unit of an array.

    The numbers of a strided array are further apart than they are long.
    """
    steps = [abs(s) for n, s in zip(array.shape, array.strides) if n > 1 and s]
    yield from steps
    if len(leaves(array.dtype)) > 1 or not steps or math.gcd(*steps) < array.dtype.size:
        yield unit_of(array.dtype)

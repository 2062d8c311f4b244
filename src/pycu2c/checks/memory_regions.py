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
    is_unwritten: whether no element has a value before the launch.
    """

    offsets: tuple[tuple[int, int], ...]
    unit: int
    size: int
    is_unwritten: bool = False


def memory_regions(arguments: Mapping[int, ArrayArgument]) -> Iterator[MemoryRegion]:
    """Yield the regions of the arguments of a launch, by their positions, in this order."""
    groups: list[tuple[int, int, list[int]]] = []  # start, stop, positions
    for (start, size), position in sorted((a.region, n) for n, a in arguments.items()):
        if groups and start < groups[-1][1]:
            first, stop, positions = groups.pop()
            groups.append((first, max(stop, start + size), [*positions, position]))
        else:
            groups.append((start, start + size, [position]))
    for start, stop, positions in sorted(groups, key=lambda group: min(group[2])):
        offsets = tuple((n, arguments[n].address - start) for n in sorted(positions))
        steps = chain.from_iterable(_steps(arguments[n]) for n in positions)
        unit = math.gcd(*(offset for _, offset in offsets), *steps)
        is_unwritten = any(arguments[n].is_unwritten for n in positions)
        yield MemoryRegion(offsets, unit, stop - start, is_unwritten)


def _steps(array: ArrayArgument) -> Iterator[int]:
    """Yield numbers of bytes that are multiples of the unit of an array.

    The numbers of a strided array are further apart than they are long.
    """
    steps = [abs(s) for n, s in zip(array.shape, array.strides) if n > 1 and s]
    yield from steps
    if len(leaves(array.dtype)) > 1 or not steps or math.gcd(*steps) < array.dtype.size:
        yield unit_of(array.dtype)

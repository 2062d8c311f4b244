"""Grids and blocks as users give them, checked before anything runs."""

from __future__ import annotations

import math
import operator
import struct
from typing import Literal, TypeAlias

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.limits import MOST_SHARED, MOST_THREADS
from pycu2c.base.records import dataclass

# what a kernel can be shown in
Language: TypeAlias = Literal["ir", "cuda", "c", "c-resumable", "ptx", "sass"]
Extent: TypeAlias = tuple[int, int, int]

LIMITS: dict[str, Extent] = {
    "grid": (2**31 - 1, 65535, 65535),
    "block": (MOST_THREADS, MOST_THREADS, 64),
}

HEAD = struct.Struct(
    "@6iq"
)  # grid, block, shared bytes: before the arguments of kernels on the CPU
# the same, a stream's handle, and whether it is in order with the default one: as in plans/plan.c
CALL = struct.Struct("@6iqQq")
# classes of streams that are kept alive by what was configured with them: numbers, our own
LASTING: set[type] = {int, type(None)}


@dataclass(frozen=True, slots=True)
class Launch:
    """Where a kernel runs, and with how many threads."""

    grid: Extent
    block: Extent
    stream: object
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a launch asks for; None for what is to follow from the data and the kernel."""

    grid: Extent | None
    block: Extent | None
    stream: object
    shared_bytes: int

    def call(self, stream: int, in_order: bool) -> bytes:
        """The same for C, with the handle of the stream and whether it and the default stream wait
        for each other; zeros for what is open."""
        extents = *(self.grid or _OPEN), *(self.block or _OPEN)
        return CALL.pack(*extents, self.shared_bytes, stream, in_order)


_OPEN = (0, 0, 0)


_INSTEAD_OF_NONE = {
    "grid": "launch nothing where there is nothing to do",
    "block": "it is the number of threads, such as 256",
}


def extent(given: object, what: str, kernel: str) -> Extent:
    """``256``, ``(16, 16)`` or ``(x, y, z)`` as three numbers. Raises LaunchError."""
    parts = given if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(parts) <= 3:
        raise LaunchError(f"{kernel}: a {what} has 1, 2 or 3 axes, not {len(parts)}: {given!r}")
    numbers = [_whole(part, what, kernel) for part in parts]
    for axis, number, most in zip("xyz", numbers, LIMITS[what]):
        if number < 1:
            raise LaunchError(
                f"{kernel}: a {what} has at least 1 along {axis}, not {number}: "
                f"{_INSTEAD_OF_NONE[what]}"
            )
        if number > most:
            raise LaunchError(f"{kernel}: a {what} has at most {most} along {axis}, not {number}")
    full = (*numbers, 1, 1)[:3]
    if what == "block" and math.prod(full) > MOST_THREADS:
        raise LaunchError(
            f"{kernel}: a block has at most {MOST_THREADS} threads, not {math.prod(full)}: "
            "use smaller blocks and a larger grid"
        )
    return full[0], full[1], full[2]


def check_bounds(block: Extent, bounds: tuple[int, ...], kernel: str) -> None:
    """Whether a block keeps within the kernel's launch bounds. Raises LaunchError."""
    threads = math.prod(block)
    if bounds and threads > bounds[0]:
        raise LaunchError(
            f"{kernel}: a block has {threads} threads, and launch_bounds says at most {bounds[0]}"
        )


def check_clusters(grid: Extent, cluster: tuple[int, ...], kernel: str) -> None:
    """Whether a grid is made of whole clusters. Raises LaunchError."""
    for axis, blocks, size in zip("xyz", grid, cluster):
        if blocks % size:
            more = -(-blocks // size) * size
            fewer = f"{more - size} or " if more > size else ""
            raise LaunchError(
                f"{kernel}: the grid has {blocks} along {axis}, and a cluster {size}, which does "
                f"not divide it: launch {fewer}{more} along {axis}"
            )


def whole_clusters(grid: Extent, cluster: tuple[int, ...]) -> Extent:
    """A grid of whole clusters that is no smaller."""
    x, y, z = (-(-blocks // size) * size for blocks, size in zip(grid, cluster or (1, 1, 1)))
    return x, y, z


def _whole(part: object, what: str, kernel: str) -> int:
    try:
        return operator.index(part)  # type: ignore[arg-type]
    except TypeError:
        cure = ""
        if isinstance(part, float):
            rounded_up = ": divide with //, and round up: -(-n // threads)"
            cure = f": write {int(part)}" if part.is_integer() else rounded_up
        raise LaunchError(f"{kernel}: a {what} is of whole numbers, not {part!r}{cure}") from None


def shared_size(given: object, kernel: str) -> int:
    """Bytes of dynamic shared memory. Raises LaunchError."""
    size = _whole(given, "shared memory size", kernel)
    if size < 0:
        raise LaunchError(f"{kernel}: the shared memory size is {size}, it cannot be negative")
    if size > MOST_SHARED:  # a device that has less refuses the launch itself
        raise LaunchError(
            f"{kernel}: a block has at most {MOST_SHARED} bytes of shared memory, not {size}: "
            "let a block work on one tile at a time"
        )
    return size

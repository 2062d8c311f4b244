"""Parse and check launch configurations: grid, block, shared memory, stream."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Sequence
from typing import Literal, TypeAlias

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.limits import MAX_BLOCK_THREADS, MAX_SHARED_BYTES
from pycu2c.base.records import dataclass
from pycu2c.native.extension import LaunchConfiguration

# the languages in which a kernel can be inspected
Language: TypeAlias = Literal["ir", "cuda", "c", "c-resumable", "ptx", "sass"]
Extent: TypeAlias = tuple[int, int, int]
Dims: TypeAlias = "int | Sequence[int]"  # of a grid or block, from the user

LIMITS: dict[str, Extent] = {
    "grid": (2**31 - 1, 65535, 65535),
    "block": (MAX_BLOCK_THREADS, MAX_BLOCK_THREADS, 64),
}

# grid, block and shared bytes, before the packed arguments on the CPU (native/launch_header.h)
LAUNCH_HEADER = struct.Struct("@6iq")
# classes of the streams that a cached configuration may hold: handles, and streams of pycu2c
CACHEABLE_STREAM_TYPES: set[type] = {int, type(None)}


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch configuration of a launch."""

    grid: Extent
    block: Extent
    stream: object
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """A launch configuration from the user; None for extents that are inferred later."""

    grid: Extent | None
    block: Extent | None
    stream: object
    shared_bytes: int

    def configuration(self, handle: int, ordered: bool) -> LaunchConfiguration:
        """Return this request for the dispatch table; an unspecified grid or block is zeros.

        handle: the handle of the stream. ordered: whether the stream and the default stream
        synchronize with each other.
        """
        grid, block = self.grid or _UNSPECIFIED, self.block or _UNSPECIFIED
        return LaunchConfiguration(grid, block, self.shared_bytes, self.stream, handle, ordered)


_UNSPECIFIED = (0, 0, 0)


_ZERO_HINTS = {
    "grid": "do not launch the kernel if there is nothing to do",
    "block": "it is the number of threads, such as 256",
}


def extent(value: object, name: str, kernel: str) -> Extent:
    """Convert ``256``, ``(16, 16)`` or ``(x, y, z)`` to three ints. Raises LaunchError."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3:
        raise LaunchError(f"{kernel}: a {name} has 1, 2 or 3 axes, not {len(parts)}: {value!r}")
    numbers = [_integer(part, name, kernel) for part in parts]
    for axis, number, maximum in zip("xyz", numbers, LIMITS[name]):
        if number < 1:
            raise LaunchError(
                f"{kernel}: a {name} has at least 1 along {axis}, not {number}: {_ZERO_HINTS[name]}"
            )
        if number > maximum:
            raise LaunchError(
                f"{kernel}: a {name} has at most {maximum} along {axis}, not {number}"
            )
    full = (*numbers, 1, 1)[:3]
    if name == "block" and math.prod(full) > MAX_BLOCK_THREADS:
        raise LaunchError(
            f"{kernel}: a block has at most {MAX_BLOCK_THREADS} threads, not {math.prod(full)}: "
            "use smaller blocks and a larger grid"
        )
    return full[0], full[1], full[2]


def check_bounds(block: Extent, bounds: tuple[int, ...], kernel: str) -> None:
    """Check a block against the kernel's launch bounds. Raises LaunchError."""
    threads = math.prod(block)
    if bounds and threads > bounds[0]:
        raise LaunchError(
            f"{kernel}: a block has {threads} threads, and launch_bounds says at most {bounds[0]}"
        )


def check_clusters(grid: Extent, cluster: tuple[int, ...], kernel: str) -> None:
    """Check that a grid is a multiple of the cluster size. Raises LaunchError."""
    for axis, blocks, size in zip("xyz", grid, cluster):
        if blocks % size:
            rounded_up = -(-blocks // size) * size
            rounded_down = f"{rounded_up - size} or " if rounded_up > size else ""
            raise LaunchError(
                f"{kernel}: the grid has {blocks} along {axis}, and a cluster {size}, which does "
                f"not divide it: launch {rounded_down}{rounded_up} along {axis}"
            )


def round_up_to_clusters(grid: Extent, cluster: tuple[int, ...]) -> Extent:
    """Round a grid up to a multiple of the cluster size."""
    x, y, z = (-(-blocks // size) * size for blocks, size in zip(grid, cluster or (1, 1, 1)))
    return x, y, z


def _integer(part: object, name: str, kernel: str) -> int:
    try:
        return operator.index(part)  # type: ignore[arg-type]
    except TypeError:
        hint = ""
        if isinstance(part, float):
            division_hint = ": divide with //, and round up: -(-n // threads)"
            hint = f": write {int(part)}" if part.is_integer() else division_hint
        raise LaunchError(f"{kernel}: a {name} takes integers, not {part!r}{hint}") from None


def shared_size(value: object, kernel: str) -> int:
    """Convert a size of dynamic shared memory to an int. Raises LaunchError."""
    size = _integer(value, "shared memory size", kernel)
    if size < 0:
        raise LaunchError(f"{kernel}: the shared memory size is {size}, it cannot be negative")
    if size > MAX_SHARED_BYTES:  # a device with less memory rejects the launch
        raise LaunchError(
            f"{kernel}: a block has at most {MAX_SHARED_BYTES} bytes of shared memory, not {size}: "
            "let a block work on one tile at a time"
        )
    return size

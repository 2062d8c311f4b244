"""Host arrays for a launch on the device: copied there and, where written, back. Knows no kernel.

Arrays that share memory on the host share it on the device: overlapping ranges of bytes are
copied once, as one, and each array points to its place in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import NamedTuple, dataclass
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.cuda import memory, peer_access, staging


class Extent(NamedTuple):
    """The bytes from ``start`` up to, not including, ``stop``."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start


def extent_of(array: ArrayArgument) -> Extent:
    """Every byte from an array's first to its last; empty if the array is."""
    if array.size == 0:
        return Extent(array.address, array.address)
    reaches = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    first = array.address + sum(reach for reach in reaches if reach < 0)
    last = array.address + sum(reach for reach in reaches if reach > 0)
    return Extent(first, last + array.dtype.size)


def merged(extents: Iterable[Extent]) -> list[Extent]:
    """Those that overlap become one, empty ones none: ``0-4 2-6 6-8`` -> ``0-6 6-8``."""
    out: list[Extent] = []
    for extent in sorted(e for e in extents if e.size):
        if out and extent.start < out[-1].stop:
            out[-1] = Extent(out[-1].start, max(out[-1].stop, extent.stop))
        else:
            out.append(extent)
    return out


@dataclass(frozen=True, slots=True)
class Staged:
    """Host bytes and their copy on the device, at the same alignment."""

    extent: Extent
    allocation: memory.Memory

    def address_of(self, host_address: int) -> int:
        """Where a host byte's copy lies."""
        offset = self.extent.start % memory.ALIGNMENT
        return self.allocation.address + offset + host_address - self.extent.start


@contextlib.contextmanager
def staged(
    arguments: Sequence[Argument],
    written: Set[int],
    stream: int,
    kernel: str,
    overwritten: Set[int] = frozenset(),
) -> Iterator[tuple[int, ...]]:
    """The device address of each argument of one launch; 0 for numbers.

        Arrays on the device are used where they are. Those of the host have copies, which live as
        long as the ``with``; at its end the stream has been waited for, and what the kernel writes
        (``written``, by position) is back. What the launch overwrites as a whole (``overwritten``)
    is not copied in. The launch stands inside.
    """
    _check_writable(arguments, written, kernel)
    _check_places(arguments, kernel)
    others = _of_others(arguments, stream, kernel) if driver.several() else ()
    wait_for_owners(arguments, stream)
    extents = {
        position: extent_of(argument)
        for position, argument in enumerate(arguments)
        if isinstance(argument, ArrayArgument) and not is_there(argument)
    }
    copies: list[Staged] = []
    try:
        for extent in merged(extents.values()):
            copies.append(_room_for(extent, stream))
            if not _is_overwritten(extent, extents, overwritten, arguments):
                place = copies[-1].address_of(extent.start)
                staging.copy_in(place, extent.start, extent.size, stream)
        yield tuple(_address(argument, copies) for argument in arguments)
        for other in others:
            peer_access.wait_for((driver.current_ordinal(), stream), (other, 0))
        if copies:
            driver.synchronize(stream, f"run {kernel}")
            _bring_back(merged(extents[p] for p in extents.keys() & written), copies, stream)
            driver.synchronize(stream, f"copy back what {kernel} wrote")
    finally:
        copies.clear()  # an exception that somebody keeps does not keep them


def _is_overwritten(
    extent: Extent,
    extents: Mapping[int, Extent],
    overwritten: Set[int],
    arguments: Sequence[Argument],
) -> bool:
    """Whether nothing of what lies on the host will be seen: one array has it all for itself, has
    no gaps, and is overwritten."""
    having = [p for p, e in extents.items() if e.start < extent.stop and extent.start < e.stop]
    if len(having) != 1 or having[0] not in overwritten:
        return False
    array = arguments[having[0]]
    return isinstance(array, ArrayArgument) and array.contiguous


def _of_others(arguments: Sequence[Argument], stream: int, kernel: str) -> Sequence[int]:
    """Other devices whose arrays a launch uses: it waits for their work, and later work for it."""
    peer_access.check_stream(stream, kernel)
    others = peer_access.others(arguments, kernel)
    for other in others:
        peer_access.wait_for((other, 0), (driver.current_ordinal(), stream))
    return others


def wait_for_owners(arguments: Sequence[Argument], stream: int) -> None:
    """Let the stream wait for work on device arrays that their owners have under way."""
    if graph_capture.current() is not None:
        return  # a graph waits for the stream that it is launched in
    arrays = (argument for argument in arguments if isinstance(argument, ArrayArgument))
    for owner in {array.stream for array in arrays}:
        if owner is not None:
            driver.order_after(owner, stream)


def note_use(arguments: Sequence[Argument], stream: object) -> None:
    """Tell device arrays of a launch on another stream than the default one; the launch itself is
    in order with those of other devices."""
    here = driver.current_ordinal()
    for argument in arguments:
        used = memory.behind(argument.owner) if isinstance(argument, ArrayArgument) else None
        if used is not None and used.ordinal in (here, memory.HOST):
            used.used_on(stream)


def _check_writable(arguments: Sequence[Argument], written: Set[int], kernel: str) -> None:
    for position in sorted(written):
        argument = arguments[position]
        if isinstance(argument, ArrayArgument) and argument.readonly:
            raise LaunchError(
                f"{kernel} writes to its argument {position + 1}, and that array is read-only"
            )


def _check_places(arguments: Sequence[Argument], kernel: str) -> None:
    for position, argument in enumerate(arguments, start=1):
        if isinstance(argument, ArrayArgument) and argument.placed and argument.where == "host":
            raise LaunchError(
                f"{kernel}: argument {position} is a device array in memory of the host, and the "
                "launch is on a GPU: make it with cuda.to_device(…) on the GPU, or pass a numpy "
                "array"
            )


def _room_for(extent: Extent, stream: int) -> Staged:
    room = memory.DeviceMemory(extent.size + extent.start % memory.ALIGNMENT)
    if stream:
        room.used_on(stream)
    copy = Staged(extent, room)
    if extent.start % 2:  # an atomic on a byte exchanges it together with its neighbour
        driver.fill(copy.address_of(extent.start) - 1, bytes(1), 1, stream)
    return copy


def _bring_back(extents: list[Extent], copies: list[Staged], stream: int) -> None:
    for extent in extents:
        staging.copy_out(extent.start, _copy_of(extent.start, copies), extent.size, stream)


def _address(argument: Argument, copies: list[Staged]) -> int:
    if isinstance(argument, ArrayArgument) and not is_there(argument):
        return _copy_of(argument.address, copies)
    return address_in_place(argument)


def address_in_place(argument: Argument) -> int:
    """Where an array lies that the device uses there; of a texture its handle; 0 for numbers."""
    if isinstance(argument, HandleArgument):
        return argument.handle("device")
    return argument.address if isinstance(argument, ArrayArgument) else 0


def is_there(argument: ArrayArgument) -> bool:
    """Whether the device uses an array where it lies."""
    return argument.where == "device" or memory.lies_in_place(argument.owner)


def _copy_of(host_address: int, copies: list[Staged]) -> int:
    """Where a host byte's copy lies; 0 for a byte that has none: an empty array's."""
    for copy in copies:
        if copy.extent.start <= host_address < copy.extent.stop:
            return copy.address_of(host_address)
    return 0

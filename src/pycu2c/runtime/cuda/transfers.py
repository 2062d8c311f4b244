"""Copy host arrays to the device for a launch, and copy written ones back.

Arrays that overlap on the host also overlap on the device: overlapping ranges are merged and copied
once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.cuda import memory, peer_access, staging


class ByteExtent(NamedTuple):
    """A range of bytes; ``stop`` is exclusive."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start


def extent_of(array: ArrayArgument) -> ByteExtent:
    """Return the range from the first to the last byte of an array."""
    start, size = array.region
    return ByteExtent(start, start + size)


def merge_extents(extents: Iterable[ByteExtent]) -> list[ByteExtent]:
    """Merge overlapping ranges and drop empty ones: ``0-4 2-6 6-8`` -> ``0-6 6-8``."""
    out: list[ByteExtent] = []
    for extent in sorted(e for e in extents if e.size):
        if out and extent.start < out[-1].stop:
            out[-1] = ByteExtent(out[-1].start, max(out[-1].stop, extent.stop))
        else:
            out.append(extent)
    return out


@dataclass(frozen=True, slots=True)
class StagedExtent:
    """Host bytes and their device copy, which has the same alignment."""

    extent: ByteExtent
    allocation: memory.Memory

    def address_of(self, host_address: int) -> int:
        """Return the address of the copy of a host byte."""
        offset = self.extent.start % memory.ALIGNMENT
        return self.allocation.address + offset + host_address - self.extent.start


@contextlib.contextmanager
def stage_arguments(
    arguments: Sequence[Argument],
    written: Set[int],
    stream: int,
    kernel: str,
    overwritten: Set[int] = frozenset(),
    is_ordered: bool = True,
) -> Iterator[tuple[int, ...]]:
    """Yield the device address of each argument of a launch; 0 for numbers.

    Device arrays are used in place. Host arrays are copied to the device. The caller launches in
    the ``with``. At its end the stream is synchronized, and written arrays are copied back.

    written: positions of arrays that the kernel writes.
    overwritten: positions of arrays that the launch fully overwrites, and does not read.
    is_ordered: whether the stream synchronizes with the default stream.
    """
    _check_writable(arguments, written, kernel)
    _check_locations(arguments, kernel)
    peers: Sequence[int] = ()
    if driver.has_multiple_devices():
        peers = _order_with_peers(arguments, stream, kernel, is_ordered)
    wait_for_owners(arguments, stream)
    extents = {
        position: extent_of(argument)
        for position, argument in enumerate(arguments)
        if isinstance(argument, ArrayArgument) and not is_used_in_place(argument)
    }
    copies: list[StagedExtent] = []
    try:
        for extent in merge_extents(extents.values()):
            copies.append(_allocate_copy(extent, stream))
            if not _is_overwritten(extent, extents, overwritten, arguments):
                target = copies[-1].address_of(extent.start)
                staging.copy_in(target, extent.start, extent.size, stream)
        yield tuple(_address(argument, copies) for argument in arguments)
        for peer in peers:
            driver.order_across_devices((driver.current_ordinal(), stream), (peer, 0))
        if copies:
            driver.synchronize(stream, f"run {kernel}")
            _copy_back(merge_extents(extents[p] for p in extents.keys() & written), copies, stream)
            driver.synchronize(stream, f"copy back what {kernel} wrote")
    finally:
        copies.clear()  # free them even if a traceback keeps this frame alive


def _is_overwritten(
    extent: ByteExtent,
    extents: Mapping[int, ByteExtent],
    overwritten: Set[int],
    arguments: Sequence[Argument],
) -> bool:
    """Return whether a single contiguous array, which the launch overwrites, covers a range."""
    overlapping = [p for p, e in extents.items() if e.start < extent.stop and extent.start < e.stop]
    if len(overlapping) != 1 or overlapping[0] not in overwritten:
        return False
    array = arguments[overlapping[0]]
    return isinstance(array, ArrayArgument) and array.contiguous


def _order_with_peers(
    arguments: Sequence[Argument], stream: int, kernel: str, is_ordered: bool
) -> Sequence[int]:
    """Order the launch with the other devices whose arrays it uses, and return these.

    The program orders the work of other streams, by events.
    """
    peer_access.check_stream(stream, kernel)
    peers = peer_access.peer_devices(arguments, kernel)
    if not is_ordered:
        return ()
    for peer in peers:
        driver.order_across_devices((peer, 0), (driver.current_ordinal(), stream))
    return peers


def wait_for_owners(arguments: Sequence[Argument], stream: int) -> None:
    """Order the stream after pending work of the owners of device arrays."""
    if graph_capture.current() is not None:
        return  # a graph is ordered by the stream in which it is launched
    here, has_peers = driver.current_ordinal(), driver.has_multiple_devices()
    owners = {
        (peer_access.ordinal_of(argument) if has_peers else here, argument.stream)
        for argument in arguments
        if isinstance(argument, ArrayArgument) and argument.stream is not None
    }
    for ordinal, owner in owners:
        if ordinal == here:
            driver.order_after(owner, stream)
        else:
            driver.order_across_devices((ordinal, owner), (here, stream))


def record_use(arguments: Sequence[Argument], stream: object) -> None:
    """Record the use of device arrays in a stream other than the default one."""
    for argument in arguments:
        used = memory.memory_behind(argument.owner) if isinstance(argument, ArrayArgument) else None
        if used is not None:
            used.used_on(stream)


def _check_writable(arguments: Sequence[Argument], written: Set[int], kernel: str) -> None:
    for position in sorted(written):
        argument = arguments[position]
        if isinstance(argument, ArrayArgument) and argument.readonly:
            raise LaunchError(
                f"{kernel} writes to its argument {position + 1}, and that array is read-only"
            )


def _check_locations(arguments: Sequence[Argument], kernel: str) -> None:
    for position, argument in enumerate(arguments, start=1):
        if (
            isinstance(argument, ArrayArgument)
            and argument.location_is_explicit
            and argument.location == "host"
        ):
            raise LaunchError(
                f"{kernel}: argument {position} is a device array in memory of the host, and the "
                "launch is on a GPU: make it with cuda.to_device(…) on the GPU, or pass a numpy "
                "array"
            )


def _allocate_copy(extent: ByteExtent, stream: int) -> StagedExtent:
    allocation = memory.DeviceMemory(extent.size + extent.start % memory.ALIGNMENT)
    if stream:
        allocation.used_on(stream)
    copy = StagedExtent(extent, allocation)
    if extent.start % 2:  # an atomic on a byte accesses its neighbor as well
        driver.fill(copy.address_of(extent.start) - 1, bytes(1), 1, stream)
    return copy


def _copy_back(extents: list[ByteExtent], copies: list[StagedExtent], stream: int) -> None:
    for extent in extents:
        staging.copy_out(extent.start, _copied_address(extent.start, copies), extent.size, stream)


def _address(argument: Argument, copies: list[StagedExtent]) -> int:
    if isinstance(argument, ArrayArgument) and not is_used_in_place(argument):
        return _copied_address(argument.address, copies)
    return address_in_place(argument)


def address_in_place(argument: Argument) -> int:
    """Return the address of an array that is used in place, or a texture handle; 0 for numbers."""
    if isinstance(argument, HandleArgument):
        return argument.handle("device")
    return argument.address if isinstance(argument, ArrayArgument) else 0


def is_used_in_place(argument: ArrayArgument) -> bool:
    """Return whether the device uses an array in place."""
    return argument.location == "device" or memory.is_device_accessible(argument.owner)


def _copied_address(host_address: int, copies: list[StagedExtent]) -> int:
    """Return the address of a host byte's copy; 0 for an empty array."""
    for copy in copies:
        if copy.extent.start <= host_address < copy.extent.stop:
            return copy.address_of(host_address)
    return 0

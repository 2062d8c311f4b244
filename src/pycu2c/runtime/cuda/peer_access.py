"""Support several GPUs: location of memory, peer access, copies and order between devices.

Not used with a single GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.cuda import memory, memory_pool

_ENABLED: set[tuple[int, int]] = set()  # pairs of a device and a peer that it may access


def can_access(device: int, peer: int) -> bool:
    """Return whether the hardware supports access to the memory of a peer."""
    if device == peer:
        return False
    found = driver.devices()
    answer = driver.api().cuDeviceCanAccessPeer(found[device].handle, found[peer].handle)
    return bool(driver.check(answer, "ask for peer access"))


def enable_access(device: int, peer: int) -> None:
    """Enable access to the memory of a peer. Raises CudaError."""
    if (device, peer) in _ENABLED or device == peer:
        return
    bindings, doing = driver.api(), f"let GPU {device} use memory of GPU {peer}"
    with driver.on_device(device):
        (code,) = bindings.cuCtxEnablePeerAccess(driver.primary_context(peer), 0)
    if code.name != "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED":
        driver.check((code,), doing)
    shared = memory_pool.pool_of(peer)
    if shared is not None:
        access = bindings.CUmemAccessDesc()
        access.location.type = bindings.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = device
        access.flags = bindings.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        driver.check(bindings.cuMemPoolSetAccess(shared, [access], 1), doing)
    _ENABLED.add((device, peer))


def ordinal_of(array: ArrayArgument) -> int:
    """Return the device of an array; the current one for memory that all devices access."""
    if isinstance(array.owner, (memory.DeviceMemory, memory.ExternalMemory)):
        return array.owner.ordinal
    return ordinal_at(array.address)


def ordinal_at(address: int) -> int:
    """Return the device of an address; the current one for memory that all devices access."""
    bindings = driver.api()
    kinds = bindings.CUpointer_attribute
    wanted = [
        kinds.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        kinds.CU_POINTER_ATTRIBUTE_IS_MANAGED,
        kinds.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ]
    answer = bindings.cuPointerGetAttributes(len(wanted), wanted, address)
    kind, managed, ordinal = driver.check(answer, "ask what memory it is")
    on_device = int(kind) == int(bindings.CUmemorytype.CU_MEMORYTYPE_DEVICE)
    return int(ordinal) if on_device and not managed else driver.current_ordinal()


def peer_devices(arguments: Sequence[Argument], kernel: str) -> list[int]:
    """Return the other devices whose arrays a launch uses.

    Raises LaunchError if the current device cannot access them.
    """
    here, found = driver.current_ordinal(), []
    for position, argument in enumerate(arguments, start=1):
        if not isinstance(argument, ArrayArgument) or argument.where != "device":
            continue
        ordinal = ordinal_of(argument)
        if ordinal == here or ordinal in found:
            continue
        if (here, ordinal) not in _ENABLED:
            raise LaunchError(
                f"{kernel}: argument {position} is on GPU {ordinal}, and the launch on GPU {here}: "
                f"launch it in `with cuda.gpus[{ordinal}]:`, pass a copy (copy_to({here})), or let "
                f"the GPU use it where it is (cuda.gpus[{here}].enable_peer_access({ordinal}))"
            )
        found.append(ordinal)
    if found and graph_capture.current() is not None:
        graph_capture.reject(f"{kernel} uses arrays of two GPUs: a graph is of one")
    return found


def check_stream(stream: int, kernel: str) -> None:
    """Check that a stream belongs to the current device. Raises LaunchError."""
    if stream <= _MAX_SPECIAL_HANDLE:
        return
    here, ordinal = driver.current_ordinal(), ordinal_of_stream(stream)
    if ordinal != here:
        raise LaunchError(
            f"{kernel}: the stream is one of GPU {ordinal}, and the launch on GPU {here}: "
            f"launch it in `with cuda.gpus[{ordinal}]:`, or pass a stream made on GPU {here}"
        )


def ordinal_of_stream(stream: int) -> int:
    """Return the device of a stream, from its context."""
    if not driver.has_multiple_devices():
        return 0
    context = driver.check(driver.api().cuStreamGetCtx(stream), "ask a stream for its context")
    before = driver.check(driver.api().cuCtxGetCurrent(), "read the current context")
    driver.set_current_context(context)
    try:
        return driver.current_ordinal()
    finally:
        driver.set_current_context(before)


_MAX_SPECIAL_HANDLE = 2  # handles of default streams, valid on any device


def order_after(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Order later work of a stream after pending work of a stream of another device.

    Each is a pair of a device and a stream handle.
    """
    bindings, doing = driver.api(), "order the streams of two GPUs"
    flags = bindings.CUevent_flags.CU_EVENT_DISABLE_TIMING
    with driver.on_device(first[0]):
        event = driver.check(bindings.cuEventCreate(int(flags)), doing)
        driver.check(bindings.cuEventRecord(event, first[1]), doing)
    with driver.on_device(second[0]):
        driver.check(bindings.cuStreamWaitEvent(second[1], event, 0), doing)
    driver.check(bindings.cuEventDestroy(event), doing)


def copy(target: tuple[int, int], source: tuple[int, int], size: int, stream: int) -> None:
    """Copy bytes between devices, each a pair of a device and an address.

    ``stream`` belongs to the target device. The copy is ordered with the default stream of the
    source device.
    """
    to, start = (driver.primary_context(ordinal) for ordinal in (target[0], source[0]))
    order_after((source[0], 0), (target[0], stream))
    answer = driver.api().cuMemcpyPeerAsync(target[1], to, source[1], start, size, stream)
    driver.check(answer, f"copy {size} bytes from GPU {source[0]} to GPU {target[0]}")
    order_after((target[0], stream), (source[0], 0))

"""Several GPUs: which one memory is on, what one may use of another, copies and order between them.

With one GPU nothing here is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.cuda import memory, memory_pool

_MAY_USE: set[tuple[int, int]] = set()  # a device, and another one whose memory it may use


def can_access(device: int, peer: int) -> bool:
    """Whether the machine lets a device use the memory of another one."""
    if device == peer:
        return False
    found = driver.devices()
    answer = driver.api().cuDeviceCanAccessPeer(found[device].handle, found[peer].handle)
    return bool(driver.check(answer, "ask for peer access"))


def let_access(device: int, peer: int) -> None:
    """Let a device use the memory of another one. Raises CudaError."""
    if (device, peer) in _MAY_USE or device == peer:
        return
    bindings, doing = driver.api(), f"let GPU {device} use memory of GPU {peer}"
    with driver.on(device):
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
    _MAY_USE.add((device, peer))


def ordinal_of(array: ArrayArgument) -> int:
    """The device that an array is on; the current one for memory that all reach."""
    if isinstance(array.owner, (memory.DeviceMemory, memory.ForeignMemory)):
        return array.owner.ordinal
    return ordinal_at(array.address)


def ordinal_at(address: int) -> int:
    """The device that memory is on; the current one for memory that all reach."""
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


def others(arguments: Sequence[Argument], kernel: str) -> list[int]:
    """The devices beside the current one whose arrays a launch uses. Raises LaunchError where it
    may not."""
    here, found = driver.current_ordinal(), []
    for position, argument in enumerate(arguments, start=1):
        if not isinstance(argument, ArrayArgument) or argument.where != "device":
            continue
        ordinal = ordinal_of(argument)
        if ordinal == here or ordinal in found:
            continue
        if (here, ordinal) not in _MAY_USE:
            raise LaunchError(
                f"{kernel}: argument {position} is on GPU {ordinal}, and the launch on GPU {here}: "
                f"launch it in `with cuda.gpus[{ordinal}]:`, pass a copy (copy_to({here})), or let "
                f"the GPU use it where it is (cuda.gpus[{here}].enable_peer_access({ordinal}))"
            )
        found.append(ordinal)
    if found and graph_capture.current() is not None:
        graph_capture.refuse(f"{kernel} uses arrays of two GPUs: a graph is of one")
    return found


def check_stream(stream: int, kernel: str) -> None:
    """That a stream is one of the device that the thread is on. Raises LaunchError."""
    if stream <= _LAST_OF_DRIVER:
        return
    here, ordinal = driver.current_ordinal(), ordinal_of_stream(stream)
    if ordinal != here:
        raise LaunchError(
            f"{kernel}: the stream is one of GPU {ordinal}, and the launch on GPU {here}: "
            f"launch it in `with cuda.gpus[{ordinal}]:`, or pass a stream made on GPU {here}"
        )


def ordinal_of_stream(stream: int) -> int:
    """The device that a stream is on: that of its context."""
    if not driver.several():
        return 0
    context = driver.check(driver.api().cuStreamGetCtx(stream), "ask a stream for its context")
    before = driver.check(driver.api().cuCtxGetCurrent(), "read the current context")
    driver.enter(context)
    try:
        return driver.current_ordinal()
    finally:
        driver.enter(before)


_LAST_OF_DRIVER = 2  # handles that stand for default streams, of any device


def wait_for(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Let what comes next in a stream wait for what is in one of another device now; each is a
    device and a stream's handle."""
    bindings, doing = driver.api(), "order the streams of two GPUs"
    flags = bindings.CUevent_flags.CU_EVENT_DISABLE_TIMING
    with driver.on(first[0]):
        event = driver.check(bindings.cuEventCreate(int(flags)), doing)
        driver.check(bindings.cuEventRecord(event, first[1]), doing)
    with driver.on(second[0]):
        driver.check(bindings.cuStreamWaitEvent(second[1], event, 0), doing)
    driver.check(bindings.cuEventDestroy(event), doing)


def copy(target: tuple[int, int], source: tuple[int, int], size: int, stream: int) -> None:
    """Copy bytes from one device to another, in a stream of the target's, after what is in the
    source's default stream, and before what comes there next; each is a device and an address."""
    to, start = (driver.primary_context(ordinal) for ordinal in (target[0], source[0]))
    wait_for((source[0], 0), (target[0], stream))
    answer = driver.api().cuMemcpyPeerAsync(target[1], to, source[1], start, size, stream)
    driver.check(answer, f"copy {size} bytes from GPU {source[0]} to GPU {target[0]}")
    wait_for((target[0], stream), (source[0], 0))

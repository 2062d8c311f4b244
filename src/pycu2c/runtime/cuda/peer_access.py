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
    handles = [driver.devices()[ordinal].handle for ordinal in (device, peer)]
    return bool(driver.call("cuDeviceCanAccessPeer", *handles, doing="query peer access"))


def enable_access(device: int, peer: int) -> None:
    """Enable access to the memory of a peer. Raises CudaError."""
    if (device, peer) in _ENABLED or device == peer:
        return
    bindings, doing = driver.api(), f"enable access of GPU {device} to memory of GPU {peer}"
    with driver.on_device(device):
        (code,) = bindings.cuCtxEnablePeerAccess(driver.primary_context(peer), 0)
    if code.name != "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED":
        driver.check((code,), doing)
    pool = memory_pool.pool_of(peer)
    if pool is not None:
        access = bindings.CUmemAccessDesc()
        access.location.type = bindings.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = device
        access.flags = bindings.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        driver.call("cuMemPoolSetAccess", pool, [access], 1, doing=doing)
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
    attributes = [
        kinds.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        kinds.CU_POINTER_ATTRIBUTE_IS_MANAGED,
        kinds.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ]
    doing = "query the attributes of a pointer"
    kind, managed, ordinal = driver.call(
        "cuPointerGetAttributes", len(attributes), attributes, address, doing=doing
    )
    on_device = int(kind) == int(bindings.CUmemorytype.CU_MEMORYTYPE_DEVICE)
    return int(ordinal) if on_device and not managed else driver.current_ordinal()


def peer_devices(arguments: Sequence[Argument], kernel: str) -> list[int]:
    """Return the other devices whose arrays a launch uses.

    Raises LaunchError if the current device cannot access them.
    """
    here, others = driver.current_ordinal(), []
    for position, argument in enumerate(arguments, start=1):
        if not isinstance(argument, ArrayArgument) or argument.location != "device":
            continue
        ordinal = ordinal_of(argument)
        if ordinal == here or ordinal in others:
            continue
        if (here, ordinal) not in _ENABLED:
            raise LaunchError(
                f"{kernel}: argument {position} is on GPU {ordinal}, and the launch on GPU {here}: "
                f"launch it in `with cuda.gpus[{ordinal}]:`, pass a copy (copy_to({here})), or let "
                f"the GPU use it where it is (cuda.gpus[{here}].enable_peer_access({ordinal}))"
            )
        others.append(ordinal)
    if others and graph_capture.current() is not None:
        graph_capture.reject(f"{kernel} uses arrays of two GPUs, and a graph those of one")
    return others


def check_stream(stream: int, kernel: str) -> None:
    """Check that a stream belongs to the current device. Raises LaunchError."""
    here, ordinal = driver.current_ordinal(), driver.ordinal_of_stream(stream)
    if ordinal != here:
        raise LaunchError(
            f"{kernel}: the stream belongs to GPU {ordinal}, and the launch is on GPU {here}: "
            f"launch it in `with cuda.gpus[{ordinal}]:`, or pass a stream made on GPU {here}"
        )


def copy(
    target: tuple[int, int], source: tuple[int, int], size: int, stream: int, is_ordered: bool
) -> None:
    """Copy bytes between devices, each a pair of a device and an address.

    ``stream`` belongs to the target device.
    is_ordered: whether to order the copy with the default stream of the source device.
    """
    if is_ordered:
        driver.order_across_devices((source[0], 0), (target[0], stream))
    target_context = driver.primary_context(target[0])
    source_context = driver.primary_context(source[0])
    doing = f"copy {size} bytes from GPU {source[0]} to GPU {target[0]}"
    addresses = target[1], target_context, source[1], source_context
    driver.call("cuMemcpyPeerAsync", *addresses, size, stream, doing=doing)
    if is_ordered:
        driver.order_across_devices((target[0], stream), (source[0], 0))

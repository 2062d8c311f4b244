"""The CUDA driver: devices, contexts, memory, kernels and streams, as ints and exceptions.

A thin layer on ``cuda.bindings.driver``, imported at first use. Knows no array and no argument.
Kernels are loaded without a context (``cuLibrary``): they run in the context that is current in
the calling thread, which says too what device the thread is on: the primary one of device 0
unless another is selected, or another package has made its own.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import sys
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import libcuda
from pycu2c.cuda_driver.cuda_errors import CudaError, NoDeviceError, error_for


@dataclass(frozen=True, slots=True)
class Device:
    """A device and the module that speaks to it."""

    api: Any
    handle: Any
    arch: str
    name: str
    ordinal: int = 0


@functools.cache
def _probe() -> tuple[Device, ...] | str:
    """The devices, or why there are none. Makes no context."""
    found = libcuda.library()
    if isinstance(found, str):
        return found
    try:
        from cuda.bindings import driver as api
    except ImportError as error:
        return f"the package cuda-bindings is not installed ({error})"
    try:
        check(api.cuInit(0), "start the CUDA driver")
        count = check(api.cuDeviceGetCount(), "count the CUDA devices")
        devices = tuple(_device(api, ordinal) for ordinal in range(count))
        return devices or "there is no CUDA device"
    except CudaError as error:
        return str(error)
    except Exception as error:  # the bindings look for libcuda at their first call
        return f"there is no CUDA driver ({error})"


def _device(api: Any, ordinal: int) -> Device:
    handle = check(api.cuDeviceGet(ordinal), f"open CUDA device {ordinal}")
    attribute = api.CUdevice_attribute
    major, minor = (
        check(api.cuDeviceGetAttribute(which, handle), "read the compute capability")
        for which in (
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    name = check(api.cuDeviceGetName(128, handle), "read the device's name")
    return Device(api, handle, f"sm_{major}{minor}", name.split(b"\0")[0].decode(), ordinal)


def available() -> bool:
    """Whether there are a driver and a device. Never raises."""
    return isinstance(_probe(), tuple)


def why_not() -> str:
    """Why ``available()`` is false, in a sentence; empty if it is true. Never raises."""
    found = _probe()
    return found if isinstance(found, str) else ""


def devices() -> tuple[Device, ...]:
    """All devices; a CudaError if there is none."""
    found = _probe()
    if isinstance(found, str):
        raise NoDeviceError("CUDA_ERROR_NO_DEVICE", found, "use a GPU")
    return found


@functools.cache
def several() -> bool:
    """Whether there is more than one device, so that it matters which."""
    found = _probe()
    return isinstance(found, tuple) and len(found) > 1


def device() -> Device:
    """The device that the calling thread is on; a CudaError if there is none."""
    return devices()[current_ordinal()]


def api() -> Any:
    """The module ``cuda.bindings.driver``; a CudaError if there is no device."""
    return devices()[0].api


def arch() -> str:
    """What to compile for: ``sm_90``."""
    return device().arch


def check(answer: tuple[Any, ...], doing: str) -> Any:
    """Unpack what a driver function returned: its value, or a CudaError."""
    code, *values = answer
    if int(code) != 0:
        raise error_for(code.name, _text_of(code), doing)
    return values[0] if values else None


def _text_of(code: Any) -> str:
    from cuda.bindings import driver as bindings

    failed, text = bindings.cuGetErrorString(code)
    return "unknown error" if int(failed) else text.decode()


# ---- context -------------------------------------------------------------------------------


@functools.cache
def primary_context(ordinal: int) -> Any:
    """Retained for the life of the process: arrays and kernels may outlive every scope."""
    found = devices()[ordinal]
    return check(found.api.cuDevicePrimaryCtxRetain(found.handle), "open the primary context")


def make_current() -> None:
    """Give the calling thread device 0's primary context, unless it has a context already."""
    if current_context() == 0:
        select(0)


def select(ordinal: int) -> None:
    """Let the calling thread be on a device from now on."""
    enter(primary_context(ordinal))


def enter(context: Any) -> None:
    """Let the calling thread have a context, or none."""
    check(api().cuCtxSetCurrent(context), "enter a context")


def current_ordinal() -> int:
    """The number of the device that the calling thread is on."""
    if not several() or current_context() == 0:
        return 0
    return int(check(api().cuCtxGetDevice(), "ask for the current device"))


class _On:
    """See ``on``."""

    __slots__ = ("_before", "_ordinal")

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal

    def __enter__(self) -> None:
        self._before = None
        if current_context() == 0 or current_ordinal() != self._ordinal:
            self._before = check(api().cuCtxGetCurrent(), "read the current context")
            select(self._ordinal)

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            enter(self._before)


_HERE = contextlib.nullcontext()


def on(ordinal: int) -> contextlib.AbstractContextManager[None]:
    """Work on a device in a ``with``, and then where the thread was; of memory of the host the
    number is negative, and nothing happens."""
    return _On(ordinal) if ordinal >= 0 and several() else _HERE


def current_context() -> int:
    """The handle of the calling thread's context; 0 if it has none."""
    return int(check(api().cuCtxGetCurrent(), "read the current context"))


# ---- memory --------------------------------------------------------------------------------


def allocate(size: int) -> int:
    """The address of ``size`` new bytes on the device, aligned to 256; 0 for no bytes."""
    if size == 0:
        return 0
    make_current()
    return int(check(api().cuMemAlloc(size), f"allocate {size} bytes on the device"))


def free(address: int) -> None:
    if address:
        make_current()
        check(api().cuMemFree(address), "free device memory")


def copy_in(device_address: int, host_address: int, size: int, stream: int = 0) -> None:
    """Copy host bytes to the device, in the order of the stream."""
    answer = api().cuMemcpyHtoDAsync(device_address, host_address, size, stream)
    check(answer, f"copy {size} bytes to the device")


def copy_out(host_address: int, device_address: int, size: int, stream: int = 0) -> None:
    """Copy device bytes to the host, in the order of the stream; ``synchronize`` before use."""
    answer = api().cuMemcpyDtoHAsync(host_address, device_address, size, stream)
    check(answer, f"copy {size} bytes from the device")


def copy_within(target: int, source: int, size: int, stream: int = 0) -> None:
    """Copy device bytes to another place there, in the order of the stream."""
    answer = api().cuMemcpyDtoDAsync(target, source, size, stream)
    check(answer, f"copy {size} bytes on the device")


def fill(address: int, pattern: bytes, count: int, stream: int = 0) -> None:
    """Write a pattern of 1, 2 or 4 bytes ``count`` times, in the order of the stream."""
    write = getattr(api(), f"cuMemsetD{8 * len(pattern)}Async")
    answer = write(address, int.from_bytes(pattern, sys.byteorder), count, stream)
    check(answer, f"fill {count * len(pattern)} bytes of the device")


# ---- kernels -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel of a loaded cubin, with what the driver says of it."""

    handle: Any
    library: Any
    static_shared: int
    dynamic_shared: int  # what a launch may ask for without opting in
    block_limit: int
    registers: int


def load_kernel(cubin: bytes, entry: str) -> LoadedKernel:
    """Load a cubin and look its kernel up. It stays loaded for the life of the process."""
    return kernel_of(load_library(cubin, f"load the kernel {entry}"), entry)


def load_library(code: bytes, doing: str) -> Any:
    """Load a cubin, or PTX with a zero at its end. It stays loaded for the life of the process."""
    make_current()
    loaded = api().cuLibraryLoadData(code, [], [], 0, [], [], 0)
    return check(loaded, f"{doing} ({len(code)} bytes of code)")


def kernel_of(library: Any, entry: str) -> LoadedKernel:
    """A kernel of loaded code."""
    make_current()
    bindings, doing = api(), f"look the kernel {entry} up"
    handle = check(bindings.cuLibraryGetKernel(library, entry.encode()), doing)
    attribute = bindings.CUfunction_attribute
    facts = (
        check(bindings.cuKernelGetAttribute(which, handle, device().handle), doing)
        for which in (
            attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            attribute.CU_FUNC_ATTRIBUTE_NUM_REGS,
        )
    )
    return LoadedKernel(handle, library, *facts)


def variable(kernel: LoadedKernel, name: str) -> int:
    """The address of a ``__device__`` variable beside the kernel."""
    return variable_of(kernel.library, name)[0]


def variable_of(library: Any, name: str) -> tuple[int, int]:
    """The address of a ``__device__`` or ``__constant__`` variable, and how many bytes it has."""
    make_current()
    code, address, size = api().cuLibraryGetGlobal(library, name.encode())
    check((code,), f"look the variable {name} up")
    return int(address), int(size)


def start_together(handle: Any, *call: Any) -> tuple[Any, ...]:
    """cuLaunchKernel of a kernel whose blocks all run at the same time."""
    bindings = api()
    config, attribute = bindings.CUlaunchConfig(), bindings.CUlaunchAttribute()
    attribute.id = bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    attribute.value.cooperative = 1
    config.attrs, config.numAttrs = [attribute], 1
    config.gridDimX, config.gridDimY, config.gridDimZ = call[:3]
    config.blockDimX, config.blockDimY, config.blockDimZ = call[3:6]
    config.sharedMemBytes, config.hStream = call[6:8]
    parameters, extra = call[8:]
    answer: tuple[Any, ...] = bindings.cuLaunchKernelEx(config, handle, parameters, extra)
    return answer


def blocks_together(
    kernel: LoadedKernel,
    block: tuple[int, int, int],
    shared_bytes: int,
    cluster: tuple[int, ...] = (),
) -> int:
    """How many blocks of a kernel the device runs at the same time."""
    bindings = api()
    if cluster:
        return _clusters_together(kernel, block, shared_bytes, cluster) * math.prod(cluster)
    count = bindings.cuOccupancyMaxActiveBlocksPerMultiprocessor
    handle = bindings.CUfunction(int(kernel.handle))
    of_one = check(count(handle, math.prod(block), shared_bytes), "count the blocks that fit")
    return int(of_one) * processors()


def processors() -> int:
    """How many multiprocessors the device has."""
    which = api().CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    answer = api().cuDeviceGetAttribute(which, device().handle)
    return int(check(answer, "count the multiprocessors"))


def _clusters_together(
    kernel: LoadedKernel, block: tuple[int, int, int], shared_bytes: int, cluster: tuple[int, ...]
) -> int:
    """How many clusters of a kernel the device runs at the same time."""
    bindings = api()
    config, attribute = bindings.CUlaunchConfig(), bindings.CUlaunchAttribute()
    attribute.id = bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    size = attribute.value.clusterDim
    size.x, size.y, size.z = cluster
    config.attrs, config.numAttrs = [attribute], 1
    config.gridDimX, config.gridDimY, config.gridDimZ = cluster
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared_bytes
    handle = bindings.CUfunction(int(kernel.handle))
    answer = bindings.cuOccupancyMaxActiveClusters(handle, config)
    return int(check(answer, "count the clusters that fit"))


def allow_large_clusters(kernel: LoadedKernel, doing: str) -> None:
    """Let clusters of the kernel have more blocks than every device takes."""
    bindings = api()
    which = bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    check(bindings.cuKernelSetAttribute(which, 1, kernel.handle, device().handle), doing)


def shared_limit() -> int:
    """The most shared memory, static and dynamic, that a block may opt in to."""
    which = api().CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    answer = api().cuDeviceGetAttribute(which, device().handle)
    return int(check(answer, "read the shared memory limit"))


def allow_dynamic_shared(kernel: LoadedKernel, size: int, doing: str) -> None:
    """Let launches of the kernel ask for ``size`` bytes of dynamic shared memory."""
    bindings = api()
    which = bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(bindings.cuKernelSetAttribute(which, size, kernel.handle, device().handle), doing)


# ---- streams -------------------------------------------------------------------------------

_HANDLE_ATTRIBUTES = ("cuda_stream", "ptr", "handle")  # torch; cupy; numba and pycuda


def stream_of(stream: object) -> int:
    """The handle of a stream of any package; 0 and None are the default stream."""
    handle = _handle_of(stream)
    if handle > _LEGACY:
        _used_streams.add(True)
    return handle


_LEGACY = 1  # a name of the default stream
_used_streams: set[bool] = set()


def uses_streams() -> bool:
    """Whether the program has named a stream other than the default one, ever."""
    return bool(_used_streams)


def _handle_of(stream: object) -> int:
    if stream is None:
        return 0
    if hasattr(stream, "__index__"):
        return _number(operator.index(stream))
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return _protocol_handle(protocol() if callable(protocol) else protocol, stream)
    for attribute in _HANDLE_ATTRIBUTES:
        if hasattr(stream, attribute):
            return _as_int(getattr(stream, attribute), stream)
    raise LaunchError(
        f"a stream is an int, None, or a stream object of a CUDA package, not {stream!r}"
    )


_SPECIAL = range(3)  # the default stream, by two names, and the one of each thread
_LEAST_HANDLE = 4096  # others are addresses


def may_be_handle(number: int) -> bool:
    """Whether a number may be that of a stream."""
    return number in _SPECIAL or _LEAST_HANDLE <= number < 2**64


def _number(handle: int) -> int:
    """Where bytes of shared memory stand in the place of the stream, the driver would crash."""
    if may_be_handle(handle):
        return handle
    raise LaunchError(
        f"no stream has the handle {handle}: the third of k[grid, block, stream, shared_bytes] is "
        f"a stream, 0 for the default one; for shared memory write k[grid, block, 0, {abs(handle)}]"
    )


def working_stream(stream: object) -> int:
    """The handle of the stream that work goes to: as ``stream_of``, but while the thread captures
    a graph, that is where what would be for the default stream goes."""
    return graph_capture.stream_for(0 if stream is None else stream_of(stream))


def _protocol_handle(answer: Any, stream: object) -> int:
    version, handle = answer
    if version != 0:
        raise LaunchError(f"{stream!r} speaks version {version} of __cuda_stream__, not 0")
    return _as_int(handle, stream)


def _as_int(handle: Any, stream: object) -> int:
    raw = getattr(handle, "value", handle)  # ctypes.c_void_p; None in it is the default stream
    try:
        return int(raw or 0)
    except (TypeError, ValueError):
        raise LaunchError(f"the stream {stream!r} has no handle that is an int") from None


def synchronize(stream: int = 0, doing: str = "wait for the stream") -> None:
    """Wait until everything in the stream is done. Errors of kernels surface here."""
    make_current()
    check(api().cuStreamSynchronize(stream), doing)


_LEGACY_DEFAULT = 1  # the default stream's other name


def order_after(earlier: int, stream: int) -> None:
    """Let what comes next in ``stream`` wait for what is in ``earlier`` now."""
    if earlier == stream or {earlier, stream} == {0, _LEGACY_DEFAULT}:
        return
    make_current()
    bindings, doing = api(), "order one stream after another"
    flags = bindings.CUevent_flags.CU_EVENT_DISABLE_TIMING
    event = check(bindings.cuEventCreate(int(flags)), doing)
    try:
        check(bindings.cuEventRecord(event, earlier), doing)
        check(bindings.cuStreamWaitEvent(stream, event, 0), doing)
    finally:
        check(bindings.cuEventDestroy(event), doing)

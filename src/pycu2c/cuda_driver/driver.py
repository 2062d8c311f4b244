"""Call the CUDA driver: devices, contexts, memory and streams.

A thin layer on ``cuda.bindings.driver``, imported at first use. Handles are ints or objects of the
bindings; errors are exceptions. The current context of the calling thread selects the device. The
default is the primary context of device 0.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import threading
from collections.abc import Iterator
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.forks import delaying_forks
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import libcuda
from pycu2c.cuda_driver.cuda_errors import CudaError, NoDeviceError, error_for

_FIRST_SPECIFIC_ARCH = 90  # with features that later architectures may lack: sm_90a


@dataclass(frozen=True, slots=True)
class DriverDevice:
    """A device, and the module ``cuda.bindings.driver``."""

    api: Any
    handle: Any
    arch: str
    name: str
    ordinal: int = 0


@functools.cache
def _probe() -> tuple[DriverDevice, ...] | str:
    """Return the devices, or why there are none. Creates no context."""
    library = libcuda.library()
    if isinstance(library, str):
        return library
    try:
        with delaying_forks():
            from cuda.bindings import driver as api
    except ImportError as error:
        return f"the package cuda-bindings is not installed ({error})"
    try:
        check(api.cuInit(0), "start the CUDA driver")
        count = check(api.cuDeviceGetCount(), "count the CUDA devices")
        devices = tuple(_open_device(api, ordinal) for ordinal in range(count))
        return devices or "there is no CUDA device"
    except CudaError as error:
        return str(error)
    except Exception as error:  # the bindings look for libcuda at their first call
        return f"there is no CUDA driver ({error})"


def _open_device(api: Any, ordinal: int) -> DriverDevice:
    handle = check(api.cuDeviceGet(ordinal), f"open CUDA device {ordinal}")
    names = [f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{suffix}" for suffix in ("MAJOR", "MINOR")]
    attributes = [getattr(api.CUdevice_attribute, name) for name in names]
    major, minor = (
        check(api.cuDeviceGetAttribute(attribute, handle), "read the compute capability")
        for attribute in attributes
    )
    name = check(api.cuDeviceGetName(128, handle), "read the device's name")
    return DriverDevice(api, handle, f"sm_{major}{minor}", name.split(b"\0")[0].decode(), ordinal)


def available() -> bool:
    """Return whether there are a driver and a device. Never raises."""
    return isinstance(_probe(), tuple)


def available_backend(backend: str, name: str) -> str:
    """Return the back end of a launch of ``name``. Raises LaunchError if there is no GPU for it."""
    if backend == "auto":
        return "cuda" if available() else "cpu"
    if backend == "cuda" and not available():
        raise LaunchError(
            f"{name} has backend='cuda', and there is no GPU to use: {unavailable_reason()}. "
            "Use backend='auto' to run on the CPU then"
        )
    return backend


def unavailable_reason() -> str:
    """Return why ``available()`` is false; empty if it is true. Never raises."""
    probed = _probe()
    return probed if isinstance(probed, str) else ""


def devices() -> tuple[DriverDevice, ...]:
    """Return all devices. Raises CudaError if there is none."""
    probed = _probe()
    if isinstance(probed, str):
        raise NoDeviceError("CUDA_ERROR_NO_DEVICE", probed, "use a GPU")
    return probed


@functools.cache
def has_multiple_devices() -> bool:
    """Return whether there is more than one device."""
    probed = _probe()
    return isinstance(probed, tuple) and len(probed) > 1


def device() -> DriverDevice:
    """Return the current device of the calling thread. Raises CudaError if there is none."""
    return devices()[current_ordinal()]


def api() -> Any:
    """Return the module ``cuda.bindings.driver``. Raises CudaError if there is no device."""
    return devices()[0].api


def arch() -> str:
    """Return the architecture of the current device, such as ``sm_90``."""
    return device().arch


def native_arch() -> str:
    """Return the architecture with the features of the current device alone, such as ``sm_90a``."""
    return with_specific_features(arch())


def with_specific_features(name: str) -> str:
    """Return an architecture with the features of its devices alone: ``sm_90a`` for ``sm_90``."""
    return f"{name}a" if int(name.removeprefix("sm_")) >= _FIRST_SPECIFIC_ARCH else name


def check(result: tuple[Any, ...], doing: str) -> Any:
    """Return the value of a driver function from its status and values.

    ``doing`` completes "cannot …" in the message of an error. Raises CudaError.
    """
    code, *values = result
    if int(code) != 0:
        raise error_for(code.name, _text_of(code), doing)
    return values[0] if values else None


def call(function: str, *arguments: Any, doing: str) -> Any:
    """Call a driver function by its name, and return its result.

    ``doing`` is the action in the message of an error. Raises CudaError.
    """
    return check(getattr(api(), function)(*arguments), doing)


def device_attribute(name: str, doing: str) -> int:
    """Return an attribute of the current device; ``name`` follows ``CU_DEVICE_ATTRIBUTE_``."""
    attribute = getattr(api().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(call("cuDeviceGetAttribute", attribute, device().handle, doing=doing))


def _text_of(code: Any) -> str:
    from cuda.bindings import driver as bindings

    status, text = bindings.cuGetErrorString(code)
    return "unknown error" if int(status) else text.decode()


# ---- context -------------------------------------------------------------------------------


@functools.cache
def primary_context(ordinal: int) -> Any:
    """Return the primary context of a device, retained until the process exits."""
    handle = devices()[ordinal].handle
    return call("cuDevicePrimaryCtxRetain", handle, doing="open the primary context")


def make_current() -> None:
    """Set the primary context of device 0 if the calling thread has no current context."""
    if current_context() == 0:
        set_device(0)


def set_device(ordinal: int) -> None:
    """Set the current device of the calling thread."""
    set_current_context(primary_context(ordinal))


def set_current_context(context: Any) -> None:
    """Set the current context of the calling thread; None for no context."""
    call("cuCtxSetCurrent", context, doing="enter a context")


def current_ordinal() -> int:
    """Return the ordinal of the calling thread's device."""
    if not has_multiple_devices() or current_context() == 0:
        return 0
    return _device_of_current_context()


def _device_of_current_context() -> int:
    return int(call("cuCtxGetDevice", doing="read the current device"))


@contextlib.contextmanager
def _switch_device(ordinal: int) -> Iterator[None]:
    previous_context = call("cuCtxGetCurrent", doing="read the current context")
    if int(previous_context) and _device_of_current_context() == ordinal:
        yield
        return
    set_device(ordinal)
    try:
        yield
    finally:
        set_current_context(previous_context)


def on_device(ordinal: int) -> contextlib.AbstractContextManager[None]:
    """Select a device in a ``with``. A negative ordinal, for host memory, has no effect."""
    if ordinal >= 0 and has_multiple_devices():
        return _switch_device(ordinal)
    return contextlib.nullcontext()


def current_context() -> int:
    """Return the handle of the calling thread's context; 0 if it has none."""
    return int(call("cuCtxGetCurrent", doing="read the current context"))


# ---- memory --------------------------------------------------------------------------------


def allocate(size: int) -> int:
    """Allocate ``size`` bytes, aligned to 256, and return the address; 0 for no bytes."""
    if size == 0:
        return 0
    make_current()
    return int(call("cuMemAlloc", size, doing=f"allocate {size} bytes on the device"))


def free(address: int) -> None:
    if address:
        make_current()
        call("cuMemFree", address, doing="free device memory")


def copy_in(device_address: int, host_address: int, size: int, stream: int = 0) -> None:
    """Copy host bytes to the device, in stream order."""
    doing = f"copy {size} bytes to the device"
    call("cuMemcpyHtoDAsync", device_address, host_address, size, stream, doing=doing)


def copy_out(host_address: int, device_address: int, size: int, stream: int = 0) -> None:
    """Copy device bytes to the host, in stream order; call ``synchronize`` before use."""
    doing = f"copy {size} bytes from the device"
    call("cuMemcpyDtoHAsync", host_address, device_address, size, stream, doing=doing)


def copy_within(target: int, source: int, size: int, stream: int = 0) -> None:
    """Copy bytes within the device, in stream order."""
    doing = f"copy {size} bytes on the device"
    call("cuMemcpyDtoDAsync", target, source, size, stream, doing=doing)


def fill(address: int, pattern: bytes, count: int, stream: int = 0) -> None:
    """Write a pattern of 1, 2 or 4 bytes ``count`` times, in stream order."""
    function, value = f"cuMemsetD{8 * len(pattern)}Async", int.from_bytes(pattern, sys.byteorder)
    doing = f"fill {count * len(pattern)} bytes of the device"
    call(function, address, value, count, stream, doing=doing)


# ---- streams -------------------------------------------------------------------------------

_HANDLE_ATTRIBUTES = ("cuda_stream", "ptr", "handle")  # torch; cupy; numba and pycuda


def stream_of(stream: object) -> int:
    """Return the handle of a stream of any package; 0 and None are the default stream.

    Records the use of a stream other than the default stream.
    """
    handle = _handle_of(stream)
    if handle not in graph_capture.DEFAULT_STREAMS:
        _STREAM_WAS_USED.set()
    return handle


_STREAM_WAS_USED = threading.Event()


def uses_streams() -> bool:
    """Return whether the program has ever used a stream other than the default stream."""
    return _STREAM_WAS_USED.is_set()


def _handle_of(stream: object) -> int:
    if stream is None:
        return 0
    if hasattr(stream, "__index__"):
        return _checked_handle(operator.index(stream))
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return _protocol_handle(protocol() if callable(protocol) else protocol, stream)
    for attribute in _HANDLE_ATTRIBUTES:
        if hasattr(stream, attribute):
            return _handle_as_int(getattr(stream, attribute), stream)
    raise LaunchError(
        f"a stream is an int, None, or a stream object of a CUDA package, not {stream!r}"
    )


SPECIAL_HANDLES = range(3)  # 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD
_MIN_ADDRESS = 4096  # other handles are addresses


def may_be_handle(number: int) -> bool:
    """Return whether an int may be a stream handle."""
    return number in SPECIAL_HANDLES or _MIN_ADDRESS <= number < 2**64


def _checked_handle(handle: int) -> int:
    """Check a handle; the driver crashes if ``shared_bytes`` is passed in place of the stream."""
    if may_be_handle(handle):
        return handle
    raise LaunchError(
        f"no stream has the handle {handle}: the third item of k[grid, block, stream, "
        f"shared_bytes] is a stream, 0 for the default stream; for shared memory write k[grid, "
        f"block, 0, {abs(handle)}]"
    )


def ordinal_of_stream(stream: int) -> int:
    """Return the device of a stream, from its context; the current one for a default stream."""
    if stream in SPECIAL_HANDLES or not has_multiple_devices():
        return current_ordinal()
    context = call("cuStreamGetCtx", stream, doing="read the context of a stream")
    previous = call("cuCtxGetCurrent", doing="read the current context")
    set_current_context(context)
    try:
        return current_ordinal()
    finally:
        set_current_context(previous)


def working_stream(stream: object) -> int:
    """Return the handle of the stream for new work.

    During graph capture, the capturing stream replaces the default stream.
    """
    return graph_capture.stream_for(0 if stream is None else stream_of(stream))


def _protocol_handle(version_and_handle: Any, stream: object) -> int:
    version, handle = version_and_handle
    if version != 0:
        raise LaunchError(f"{stream!r} has version {version} of __cuda_stream__, not 0")
    return _handle_as_int(handle, stream)


def _handle_as_int(handle: Any, stream: object) -> int:
    raw = getattr(handle, "value", handle)  # ctypes.c_void_p; its value None is the default stream
    try:
        return int(raw or 0)
    except (TypeError, ValueError):
        raise LaunchError(f"the stream {stream!r} has no handle that is an int") from None


def synchronize(stream: int = 0, doing: str = "wait for the stream") -> None:
    """Wait for all work of the stream. Raises the errors of its kernels."""
    make_current()
    call("cuStreamSynchronize", stream, doing=doing)


def synchronize_device(doing: str = "wait for the device") -> None:
    """Wait for all work of the current device. Raises the errors of its kernels."""
    call("cuCtxSynchronize", doing=doing)


def new_event(*, timing: bool = False, doing: str = "create an event") -> Any:
    """Return a new event."""
    flags = api().CUevent_flags
    flag = flags.CU_EVENT_DEFAULT if timing else flags.CU_EVENT_DISABLE_TIMING
    return call("cuEventCreate", int(flag), doing=doing)


def order_after(preceding_stream: int, stream: int) -> None:
    """Make later work of ``stream`` wait for the work that ``preceding_stream`` contains now."""
    if preceding_stream == stream or {preceding_stream, stream} == {*graph_capture.DEFAULT_STREAMS}:
        return
    make_current()
    preceding = ordinal_of_stream(preceding_stream), preceding_stream
    order_across_devices(preceding, (current_ordinal(), stream))


def order_across_devices(preceding: tuple[int, int], later: tuple[int, int]) -> None:
    """Order streams as ``order_after``; each is a pair of a device and a stream handle."""
    doing = "order one stream after another"
    with on_device(preceding[0]):  # the device of an event's stream
        event = new_event(doing=doing)
        call("cuEventRecord", event, preceding[1], doing=doing)
    try:
        with on_device(later[0]):
            call("cuStreamWaitEvent", later[1], event, 0, doing=doing)
    finally:
        call("cuEventDestroy", event, doing=doing)

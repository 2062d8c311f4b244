"""Copy and fill device arrays: between host and GPU, within a GPU, and between GPUs.

The driver copies and fills contiguous arrays. ``copy_kernels`` copies other arrays within a GPU;
between host and GPU they are copied through a contiguous array on the GPU. numpy copies arrays in
host memory. Copies that name no stream have ended when the function returns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pycu2c.base import graph_capture
from pycu2c.cuda_driver import driver
from pycu2c.devices import copy_kernels, view_geometry
from pycu2c.devices.array_data import ArrayData, Order
from pycu2c.runtime.arguments.conversion_hints import host_array, require_numpy
from pycu2c.runtime.arguments.strides import memory_of
from pycu2c.runtime.cuda import peer_access, staging
from pycu2c.runtime.cuda.memory import HOST, Memory, in_order_with_default

A = TypeVar("A", bound=ArrayData)


def duplicate(
    array: A, stream: object, *, dtype: np.dtype[Any] | None = None, order: Order = "C"
) -> A:
    """Return a contiguous copy on the same device, converted to ``dtype`` if that is given."""
    target = dtype or array.dtype
    out = array.empty(array.shape, target, array.device, order=order, stream=array.stream)
    copy(out, array, stream)
    return out


def copy_if_overlapping(source: A, target: ArrayData, stream: object) -> A:
    """Return the source, or a copy of it if writing to the target would change it."""
    is_same_view = source.address == target.address and source.strides == target.strides
    if is_same_view or not np.may_share_memory(source._numpy_view, target._numpy_view):
        return source
    return duplicate(source, stream)


def to_host(array: ArrayData, out: NDArray[Any] | None, stream: object) -> NDArray[Any]:
    """Copy the elements to ``out``, or to a new numpy array, and return it."""
    if out is None:
        out = np.empty(array.shape, array.dtype, array._memory_order)
    require_numpy(out)
    if (out.shape, out.dtype) != (array.shape, array.dtype):
        raise ValueError(
            f"an array of shape {array.shape} and dtype {array.dtype} cannot be copied to one of "
            f"shape {out.shape} and dtype {out.dtype}: use equal shapes and dtypes, or omit the "
            "host array"
        )
    _copy_out(array, out, stream)
    return out


_NUMBER_TYPES = (int, float, complex, np.generic)


def assign(target: ArrayData, value: object, stream: object) -> None:
    """Assign ``target[...] = value`` as in numpy. Raises ValueError."""
    if not target.writeable:
        raise ValueError("this device array is read-only")
    if isinstance(value, _NUMBER_TYPES):
        _fill(target, value, stream)
        return
    source = value if isinstance(value, ArrayData) else host_array(value)
    extra_axes = max(source.ndim - target.ndim, 0)
    if set(source.shape[:extra_axes]) == {1}:
        source = source.squeeze(tuple(range(extra_axes)))
    if isinstance(source, ArrayData):
        view = source._view(view_geometry.broadcast(source.shape, source.strides, target.shape))
        copy(target, copy_if_overlapping(view, target, stream), stream)
    elif source.shape:
        copy_in(target, np.broadcast_to(source, target.shape), stream)
    else:
        _fill(target, source[()], stream)


# ---- streams, graphs and devices ---------------------------------------------------------------


def _prepare(stream: object, *arrays: ArrayData) -> int:
    """Order the next work of a stream after pending work on arrays; return its handle."""
    driver.make_current()
    handle = driver.working_stream(stream)
    for array in arrays:
        array._memory.before_use(handle)
        if stream is not None:
            array._memory.used_on(stream)
    return handle


def _check_lifetime(host: NDArray[Any]) -> None:
    """Check that a captured copy uses host memory that the graph keeps alive."""
    owner = memory_of(host)
    if not graph_capture.retain(owner) or isinstance(owner, Memory):
        return
    graph_capture.reject(
        "a copy between the host and a device array requires a cuda.pinned_array: pass one, or "
        "copy before or after the graph"
    )


def _reject_temporary(reason: str) -> None:
    """Raise LaunchError if a graph is captured, because a temporary host array is required."""
    if graph_capture.current() is not None:
        graph_capture.reject(
            f"a copy of a host array that {reason} is not captured: use equal dtypes and layouts"
        )


F = TypeVar("F", bound=Callable[..., None])


def _on_device_of_first_argument(function: F) -> F:
    """Run a function on the device of its first argument, an array."""

    @functools.wraps(function)
    def wrapper(array: ArrayData, *rest: Any) -> None:
        with driver.on_device(array.device):
            function(array, *rest)

    return wrapper  # type: ignore[return-value]


# ---- host and device ---------------------------------------------------------------------------


@_on_device_of_first_argument
def copy_in(target: ArrayData, host: NDArray[Any], stream: object) -> None:
    """Copy a host array of the same shape to a device array."""
    _check_lifetime(host)
    if target.device == HOST:
        graph_capture.run_on_host(lambda: np.copyto(target._numpy_view, host, casting="unsafe"))
        return
    if not target.size:
        return
    is_contiguous = target.is_c_contiguous() or target.is_f_contiguous()
    packed = np.asarray(host, target.dtype, order=target._memory_order)
    contiguous = (
        target if is_contiguous else target.empty(target.shape, target.dtype, target.device)
    )
    handle = _prepare(stream, target, contiguous)
    staging.copy_in(contiguous.address, packed.ctypes.data, packed.nbytes, handle)
    if contiguous is not target:
        copy(target, contiguous, stream)
    if packed is not host:
        _reject_temporary("is converted")
    # numpy may reuse the memory of `packed` when this function returns
    if (stream is None or packed is not host) and graph_capture.current() is None:
        driver.synchronize(handle, "copy an array to the device")


@_on_device_of_first_argument
def _copy_out(array: ArrayData, host: NDArray[Any], stream: object) -> None:
    """Copy a device array to a host array of the same shape and dtype."""
    _check_lifetime(host)
    if array.device == HOST:
        graph_capture.run_on_host(lambda: np.copyto(host, array._numpy_view))
        return
    if not array.size:
        return
    has_same_layout = host.strides == array.strides or (
        host.flags.c_contiguous and array.is_c_contiguous()
    )
    is_direct = has_same_layout and (array.is_c_contiguous() or array.is_f_contiguous())
    host_target = (
        host if is_direct or host.flags.c_contiguous else np.empty(array.shape, array.dtype)
    )
    source = array if is_direct or array.is_c_contiguous() else duplicate(array, stream)
    handle = _prepare(stream, array, source)
    staging.copy_out(host_target.ctypes.data, source.address, source.nbytes, handle)
    if host_target is not host:
        _reject_temporary("has gaps")
    if (stream is None or host_target is not host) and graph_capture.current() is None:
        driver.synchronize(handle, "copy a device array to the host")
    if host_target is not host:
        np.copyto(host, host_target)


# ---- device arrays -----------------------------------------------------------------------------


@_on_device_of_first_argument
def copy(target: ArrayData, source: ArrayData, stream: object) -> None:
    """Copy a device array to another of the same shape, with conversion of the dtype."""
    if source.device == HOST:
        copy_in(target, source._numpy_view, stream)
    elif target.device == HOST:
        _copy_to_host_memory(target, source, stream)
    elif target.device != source.device:
        _copy_between_gpus(target, source, stream)
    else:
        _copy_on_gpu(target, source, stream)


def _copy_to_host_memory(target: ArrayData, source: ArrayData, stream: object) -> None:
    if target.dtype == source.dtype:
        _copy_out(source, target._numpy_view, stream)
    else:
        np.copyto(target._numpy_view, to_host(source, None, None), casting="unsafe")


def _copy_on_gpu(target: ArrayData, source: ArrayData, stream: object) -> None:
    handle = _prepare(stream, target, source)
    if _have_same_layout(target, source):
        if target.nbytes:
            driver.copy_within(target.address, source.address, target.nbytes, handle)
    elif target.dtype != source.dtype and not copy_kernels.can_convert(source.dtype, target.dtype):
        copy_in(target, to_host(source, None, None), stream)
    elif target.size:
        with graph_capture.without_launch_nodes():
            copy_kernels.copy(target, source, handle)


def _copy_between_gpus(target: ArrayData, source: ArrayData, stream: object) -> None:
    """Copy between two GPUs, through contiguous arrays on each if necessary."""
    if graph_capture.current() is not None:
        graph_capture.reject(
            "a copy between two GPUs cannot be captured: copy before or after the graph"
        )
    if not _have_same_layout(target, source):
        packed = source if source.is_c_contiguous() else duplicate(source, None)
        packed = (
            packed if source.dtype == target.dtype else duplicate(packed, None, dtype=target.dtype)
        )
        is_contiguous = target.is_c_contiguous()
        contiguous = (
            target if is_contiguous else target.empty(target.shape, target.dtype, target.device)
        )
        _copy_between_gpus(contiguous, packed, stream)
        if not is_contiguous:
            copy(target, contiguous, stream)
    elif target.nbytes:
        handle = _prepare(stream, target, source)
        destination, origin = (target.device, target.address), (source.device, source.address)
        is_ordered = in_order_with_default(stream)
        peer_access.copy(destination, origin, target.nbytes, handle, is_ordered)


def _have_same_layout(a: ArrayData, b: ArrayData) -> bool:
    """Return whether two arrays of one shape are contiguous, with the same dtype and order."""
    if a.dtype != b.dtype:
        return False
    if a.is_c_contiguous():
        return b.is_c_contiguous()
    return a.is_f_contiguous() and b.is_f_contiguous()


# ---- fills -------------------------------------------------------------------------------------


@_on_device_of_first_argument
def _fill(target: ArrayData, value: Any, stream: object) -> None:
    element = np.zeros((), target.dtype)
    element[()] = value  # numpy's conversion, which may raise
    if target.device == HOST:
        graph_capture.run_on_host(lambda: np.copyto(target._numpy_view, element))
        return
    if not target.size:
        return
    handle = _prepare(stream, target)
    pattern = _fill_pattern(element.tobytes())
    if pattern and (target.is_c_contiguous() or target.is_f_contiguous()):
        driver.fill(target.address, pattern, target.nbytes // len(pattern), handle)
        return
    with graph_capture.capturing(None):  # the copy exists before the graph is launched
        single = target.empty((), target.dtype, target.device, stream=stream)
        copy_in(single, element, stream)
    copy(target, single._view(view_geometry.broadcast((), (), target.shape)), stream)


def _fill_pattern(element: bytes) -> bytes | None:
    """Return the 1, 2 or 4 bytes that an element repeats, which the driver can fill with."""
    for size in (1, 2, 4):
        if len(element) % size == 0 and element == element[:size] * (len(element) // size):
            return element[:size]
    return None

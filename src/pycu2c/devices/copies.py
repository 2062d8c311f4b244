"""Copies and fills of device arrays: between the host and a GPU, and on either.

What lies without gaps is copied or filled by the driver; everything else by kernels of this
package (``element_kernels``), between the host and a GPU through memory without gaps on the GPU.
On memory of the host numpy does it. Copies without a stream are done when the call returns.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pycu2c.base import graph_capture
from pycu2c.base.lazy_imports import lazy_module
from pycu2c.cuda_driver import driver
from pycu2c.devices import view_geometry
from pycu2c.devices.array import DeviceArray, Order
from pycu2c.runtime.arguments.strides import Shape, memory_of, packed_strides
from pycu2c.runtime.cuda import peer_access, staging
from pycu2c.runtime.cuda.memory import HOST, DeviceMemory, HostMemory, Memory

if TYPE_CHECKING:
    from pycu2c.devices import copy_kernels, interoperability
else:
    copy_kernels = lazy_module("pycu2c.devices.copy_kernels")
    interoperability = lazy_module("pycu2c.devices.interoperability")

# ---- new arrays --------------------------------------------------------------------------------


def checked(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype whose elements are bytes and nothing else."""
    found = np.dtype(dtype)
    if found.hasobject:
        raise TypeError(f"elements of dtype {found} are Python objects: a GPU has none")
    return found


def new_memory(size: int, ordinal: int) -> Memory:
    return HostMemory(size) if ordinal == HOST else DeviceMemory(size, ordinal)


def new(
    shape: Shape, dtype: np.dtype[Any], ordinal: int, *, order: Order = "C", stream: object = None
) -> DeviceArray:
    """An array without gaps, whose elements are whatever was there."""
    memory = new_memory(math.prod(shape) * dtype.itemsize, ordinal)
    strides = packed_strides(shape, dtype.itemsize, order)
    return DeviceArray(memory, memory.address, shape, strides, dtype, stream=stream)


def from_host(values: ArrayLike, ordinal: int, stream: object) -> DeviceArray:
    """A copy of an array of the host, in its order if it has no gaps."""
    host = np.asarray(values)
    checked(host.dtype)
    order: Order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    array = new(host.shape, host.dtype, ordinal, order=order, stream=stream)
    _copy_in(array, host, stream)
    return array


def duplicate(array: DeviceArray, order: Order, stream: object) -> DeviceArray:
    """A copy without gaps."""
    out = new(array.shape, array.dtype, array.device, order=order, stream=array.stream)
    _copy(out, array, stream)
    return out


def copied_to(array: DeviceArray, ordinal: int, stream: object) -> DeviceArray:
    """A copy without gaps on another GPU, or in memory of the host."""
    order: Order = "F" if array.is_f_contiguous() and not array.is_c_contiguous() else "C"
    out = new(array.shape, array.dtype, ordinal, order=order)
    _copy(out, array, stream)
    return out


def converted(array: DeviceArray, dtype: np.dtype[Any], stream: object) -> DeviceArray:
    out = new(array.shape, dtype, array.device, stream=array.stream)
    _copy(out, array, stream)
    return out


# ---- between arrays and the host ---------------------------------------------------------------


def to_host(array: DeviceArray, out: NDArray[Any] | None, stream: object) -> NDArray[Any]:
    """The elements in ``out``, or in a new array of numpy's."""
    if out is None:
        order = "F" if array.is_f_contiguous() and not array.is_c_contiguous() else "C"
        out = np.empty(array.shape, array.dtype, order)  # type: ignore[call-overload]
    if (out.shape, out.dtype) != (array.shape, array.dtype):
        raise ValueError(
            f"an array of shape {array.shape} and dtype {array.dtype} is not copied to one of "
            f"shape {out.shape} and dtype {out.dtype}: make them alike, or leave the latter out"
        )
    _copy_out(array, out, stream)
    return out


def take(array: DeviceArray, source: object, stream: object) -> None:
    """``array.copy_to_device(source)``."""
    found = _found(source)
    if (found.shape, found.dtype) != (array.shape, array.dtype):
        raise ValueError(
            f"an array of shape {found.shape} and dtype {found.dtype} is not copied to one of "
            f"shape {array.shape} and dtype {array.dtype}: array[...] = values converts it"
        )
    assign(array, found, stream)


def assign(target: DeviceArray, value: object, stream: object) -> None:
    """``target[...] = value`` as numpy has it."""
    if not target.writeable:
        raise ValueError("this device array is read-only")
    if isinstance(value, _NUMBERS):
        _fill(target, value, stream)
        return
    found = _found(value)
    if found.ndim > target.ndim and set(found.shape[: found.ndim - target.ndim]) == {1}:
        found = found.reshape(found.shape[found.ndim - target.ndim :])
    if not found.shape and isinstance(found, np.ndarray):
        _fill(target, found[()], stream)
    elif isinstance(found, np.ndarray):
        _copy_in(target, np.broadcast_to(found, target.shape), stream)
    else:
        seen = found._seen(view_geometry.broadcast(found.shape, found.strides, target.shape))
        _copy(target, apart(seen, target, stream), stream)


_NUMBERS = (int, float, complex, np.generic)


def _found(value: object) -> NDArray[Any] | DeviceArray:
    """A value as an array of one kind or the other."""
    if isinstance(value, DeviceArray):
        return value
    if interoperability.is_on_device(value):
        return interoperability.as_device_array(value)
    return np.asarray(value)


def apart(source: DeviceArray, target: DeviceArray, stream: object) -> DeviceArray:
    """The source, or a copy of it if writing to the target would change it."""
    same = source.address == target.address and source.strides == target.strides
    if same or not np.may_share_memory(source._shadow, target._shadow):
        return source
    return duplicate(source, "C", stream)


# ---- the copies themselves ---------------------------------------------------------------------


def _begin(stream: object, *arrays: DeviceArray) -> int:
    """Make arrays ready for what comes next in a stream; gives its handle."""
    driver.make_current()
    handle = driver.working_stream(stream)
    for array in arrays:
        array._memory.before_use(handle)
        if stream is not None:
            array._memory.used_on(stream)
    return handle


def _check_lasting(host: NDArray[Any]) -> None:
    """That memory of the host will be there, and where it is, when a graph copies it."""
    kept = memory_of(host)
    if not graph_capture.retain(kept) or isinstance(kept, Memory):
        return
    graph_capture.reject(
        "a copy between the host and a device array is of a cuda.pinned_array there: pass one, "
        "or copy before or after the graph"
    )


def _check_same(what: str) -> None:
    """That a graph copies an array of the host as it is."""
    if graph_capture.current() is not None:
        graph_capture.reject(f"an array of the host that {what} is not copied: make the two alike")


_Done = TypeVar("_Done", bound=Callable[..., None])


def _there(done: _Done) -> _Done:
    """What is done to an array, the first of the arguments, on the GPU that it is on."""

    @functools.wraps(done)
    def there(array: DeviceArray, *rest: Any) -> None:
        if not driver.has_multiple_devices():
            done(array, *rest)
            return
        with driver.on_device(array.device):
            done(array, *rest)

    return there  # type: ignore[return-value]


@_there
def _copy_in(target: DeviceArray, host: NDArray[Any], stream: object) -> None:
    _check_lasting(host)
    if target.device == HOST:
        graph_capture.run_on_host(lambda: np.copyto(target._shadow, host, casting="unsafe"))
        return
    if not target.size:
        return
    direct = target.is_c_contiguous() or target.is_f_contiguous()
    order: Order = "C" if target.is_c_contiguous() or not direct else "F"
    packed = np.asarray(host, target.dtype, order=order)
    room = target if direct else new(target.shape, target.dtype, target.device)
    handle = _begin(stream, target, room)
    staging.copy_in(room.address, packed.ctypes.data, packed.nbytes, handle)
    if room is not target:
        _copy(target, room, stream)
    # numpy may reuse the memory of what was made here as soon as it goes
    if packed is not host:
        _check_same("is converted")
    if (stream is None or packed is not host) and graph_capture.current() is None:
        driver.synchronize(handle, "copy an array to the device")


@_there
def _copy_out(array: DeviceArray, host: NDArray[Any], stream: object) -> None:
    _check_lasting(host)
    if array.device == HOST:
        graph_capture.run_on_host(lambda: np.copyto(host, array._shadow))
        return
    if not array.size:
        return
    same = host.strides == array.strides or (host.flags.c_contiguous and array.is_c_contiguous())
    direct = same and (array.is_c_contiguous() or array.is_f_contiguous())
    room = host if direct or host.flags.c_contiguous else np.empty(array.shape, array.dtype)
    source = array if direct or array.is_c_contiguous() else duplicate(array, "C", stream)
    handle = _begin(stream, array, source)
    staging.copy_out(room.ctypes.data, source.address, source.nbytes, handle)
    if room is not host:
        _check_same("has gaps")
    if (stream is None or room is not host) and graph_capture.current() is None:
        driver.synchronize(handle, "copy a device array to the host")
    if room is not host:
        np.copyto(host, room)


@_there
def _copy(target: DeviceArray, source: DeviceArray, stream: object) -> None:
    """Between arrays of one shape."""
    if HOST in (target.device, source.device):
        _across(target, source, stream)
        return
    if target.device != source.device:
        _between(target, source, stream)
        return
    handle = _begin(stream, target, source)
    if _alike(target, source):
        if target.nbytes:
            driver.copy_within(target.address, source.address, target.nbytes, handle)
    elif target.dtype != source.dtype and not copy_kernels.can_convert(source.dtype, target.dtype):
        _copy_in(target, to_host(source, None, None), stream)
    elif target.size:
        with graph_capture.without_graph_nodes():
            copy_kernels.copy(target, source, handle)


def _between(target: DeviceArray, source: DeviceArray, stream: object) -> None:
    """Between arrays on two GPUs: by way of memory without gaps on each, where there are some."""
    if graph_capture.current() is not None:
        graph_capture.reject(
            "a copy between two GPUs is none of it: copy before or after the graph"
        )
    if not _alike(target, source):
        packed = source if source.is_c_contiguous() else duplicate(source, "C", None)
        packed = packed if source.dtype == target.dtype else converted(packed, target.dtype, None)
        room = (
            target if target.is_c_contiguous() else new(target.shape, target.dtype, target.device)
        )
        _between(room, packed, stream)
        if room is not target:
            _copy(target, room, stream)
    elif target.nbytes:
        with driver.on_device(source.device):
            source._memory.before_use(0)
        handle = _begin(stream, target)
        to, start = (target.device, target.address), (source.device, source.address)
        peer_access.copy(to, start, target.nbytes, handle)


def _across(target: DeviceArray, source: DeviceArray, stream: object) -> None:
    """Between arrays of which at least one is in memory of the host."""
    if source.device == HOST:
        _copy_in(target, source._shadow, stream)
    elif target.dtype == source.dtype:
        _copy_out(source, target._shadow, stream)
    else:
        np.copyto(target._shadow, to_host(source, None, None), casting="unsafe")


def _alike(a: DeviceArray, b: DeviceArray) -> bool:
    """Whether two arrays of one shape have the same elements at the same distances, no gaps."""
    if a.dtype != b.dtype:
        return False
    if a.is_c_contiguous():
        return b.is_c_contiguous()
    return a.is_f_contiguous() and b.is_f_contiguous()


@_there
def _fill(target: DeviceArray, value: Any, stream: object) -> None:
    element = np.zeros((), target.dtype)
    element[()] = value  # numpy's rules of what fits
    if target.device == HOST:
        graph_capture.run_on_host(lambda: np.copyto(target._shadow, element))
        return
    if not target.size:
        return
    handle = _begin(stream, target)
    unit = _unit(element.tobytes())
    if unit and (target.is_c_contiguous() or target.is_f_contiguous()):
        driver.fill(target.address, unit, target.nbytes // len(unit), handle)
    else:
        _copy_element(target, element, stream)


def _unit(pattern: bytes) -> bytes | None:
    """The shortest that fills: a byte, two or four, which the driver can repeat."""
    for size in (1, 2, 4):
        if len(pattern) % size == 0 and pattern == pattern[:size] * (len(pattern) // size):
            return pattern[:size]
    return None


def _copy_element(target: DeviceArray, element: NDArray[Any], stream: object) -> None:
    with graph_capture.capturing(None):  # it is there before a graph is launched
        one = from_host(element, target.device, stream)
    _copy(target, one._seen(view_geometry.broadcast((), (), target.shape)), stream)

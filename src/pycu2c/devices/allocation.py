"""Create arrays on the device, and host arrays in pinned, mapped and managed memory.

The functions have numba's names and parameters. Without a GPU all memory is pageable host memory.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pycu2c.base.lazy_imports import import_module
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import array, interoperability
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.array_data import Order, as_supported_dtype, stream_or_none
from pycu2c.devices.gpu_selection import DeviceLike, ordinal_of
from pycu2c.runtime.arguments.conversion_hints import require_numpy
from pycu2c.runtime.arguments.strides import Shape, array_over, packed_strides
from pycu2c.runtime.cuda import memory
from pycu2c.runtime.cuda.memory import HOST, HostMemory, ManagedMemory, Memory, PinnedMemory

ShapeLike: TypeAlias = "int | Sequence[int]"


class HasShape(Protocol):
    """An array of any package, for the ``…_like`` functions."""

    @property
    def shape(self) -> Any: ...
    @property
    def strides(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


# ---- device arrays -----------------------------------------------------------------------------


def to_device(
    obj: ArrayLike | DeviceArray,
    stream: object = 0,
    copy: bool = True,
    to: DeviceArray | None = None,
    *,
    device: DeviceLike = None,
) -> DeviceArray:
    """Copy an array to the device.

    Parameters
    ----------
    obj : array_like
        A host array, or a device array of any package.
    stream : Stream, optional
        The stream of the copy.
    copy : bool, optional
        Whether to copy a device array that is already on ``device``.
    to : DeviceArray, optional
        The target, of the same shape and dtype; by default a new array.
    device : int or "cpu", optional
        The GPU of the new array, or host memory; by default the current GPU.

    Returns
    -------
    DeviceArray
        The new array, or ``to``.

    Raises
    ------
    TypeError
        If the elements are Python objects, or the array is masked.

    See Also
    --------
    device_array
        An array with undefined elements.
    DeviceArray.copy_to_host
        The copy in the other direction.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda
    >>> x = cuda.to_device(np.arange(3, dtype=np.float32))
    >>> x.shape, x.dtype
    ((3,), dtype('float32'))
    >>> x.copy_to_host()
    array([0., 1., 2.], dtype=float32)
    """
    stream = stream_or_none(stream)
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if not interoperability.is_on_device(obj):
        return array.from_host(obj, ordinal_of(device), stream)
    source = array.as_device_array(obj)
    if device is not None and ordinal_of(device) != source.device:
        return source.copy_to(device, stream)
    return source.copy(stream=stream) if copy else source


def device_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
    stream: object = 0,
    *,
    device: DeviceLike = None,
    shareable: bool = False,
) -> DeviceArray:
    """Return a new array on the device, with undefined elements.

    Raises
    ------
    OutOfMemoryError
        If the device does not have enough free memory.
    """
    layout = ArrayLayout(shape, dtype, strides, order)
    allocate: Callable[[int, int], Memory] = memory.allocate
    if shareable:
        allocate = import_module("pycu2c.devices.ipc").allocate_shareable
    allocation = allocate(layout.size, ordinal_of(device))
    array = DeviceArray(
        allocation,
        allocation.address,
        layout.shape,
        layout.strides,
        layout.dtype,
        stream=stream_or_none(stream),
    )
    array._unwritten = True
    return array


def device_array_like(
    ary: HasShape, stream: object = 0, *, device: DeviceLike = None, shareable: bool = False
) -> DeviceArray:
    """Return a new array on the device with the shape, dtype and order of axes of another one."""
    shape, strides = tuple(ary.shape), strides_like(ary)
    return device_array(
        shape, ary.dtype, strides, stream=stream, device=device, shareable=shareable
    )


# ---- arguments of launches ---------------------------------------------------------------------


def In(value: Any) -> DeviceArray:
    """Return a copy for an argument that a launch reads, so that nothing is copied back."""
    return to_device(value)


def Out(value: NDArray[Any]) -> NDArray[Any]:
    """Return the array: an argument that a launch writes. Unread elements are not copied in."""
    return value


def InOut(value: NDArray[Any]) -> NDArray[Any]:
    """Return the array: an argument that a launch reads and writes."""
    return value


# ---- host arrays -------------------------------------------------------------------------------


def pinned_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
) -> NDArray[Any]:
    """Return a new numpy array in pinned memory: copies are fastest, and asynchronous."""
    return ArrayLayout(shape, dtype, strides, order).array_in(PinnedMemory)


def mapped_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
    stream: object = 0,
    portable: bool = False,
    wc: bool = False,
) -> NDArray[Any]:
    """Return a new numpy array in pinned host memory that kernels access in place.

    Launches do not copy it, and do not wait for the kernel.
    """
    allocate = functools.partial(PinnedMemory, in_place=True, write_combined=wc)
    return ArrayLayout(shape, dtype, strides, order).array_in(allocate)


def managed_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
    stream: object = 0,
    attach_global: bool = True,
) -> NDArray[Any]:
    """Return a new numpy array in managed memory, which kernels access in place.

    Launches do not copy it, and do not wait for the kernel.
    """
    allocate = functools.partial(ManagedMemory, attach_global=attach_global)
    return ArrayLayout(shape, dtype, strides, order).array_in(allocate)


def pinned_array_like(ary: HasShape) -> NDArray[Any]:
    """Return a new pinned array with the shape, dtype and order of axes of another one."""
    return pinned_array(tuple(ary.shape), ary.dtype, strides_like(ary))


def mapped_array_like(
    ary: HasShape, stream: object = 0, portable: bool = False, wc: bool = False
) -> NDArray[Any]:
    """Return a new mapped array with the shape, dtype and order of axes of another one."""
    return mapped_array(tuple(ary.shape), ary.dtype, strides_like(ary), wc=wc)


@contextlib.contextmanager
def pinned(*arylist: NDArray[Any]) -> Iterator[None]:
    """Pin numpy arrays inside a ``with``: copies are faster there, and asynchronous.

    Pinning takes as long as one or two copies.

    Yields
    ------
    None
        Nothing.
    """
    for each in arylist:
        require_numpy(each)
    with contextlib.ExitStack() as stack:
        if driver.available():
            _pin(stack, arylist)
        yield


@contextlib.contextmanager
def mapped(*arylist: NDArray[Any], stream: object = 0) -> Iterator[DeviceArray | list[DeviceArray]]:
    """Map numpy arrays to the device inside a ``with``; kernels access them in place.

    Launches do not wait for the kernel.

    Yields
    ------
    DeviceArray or list of DeviceArray
        A view for each array; a list if there are several.
    """
    for each in arylist:
        require_numpy(each)
    stream, ordinal = stream_or_none(stream), ordinal_of(None)
    with contextlib.ExitStack() as stack:
        if ordinal != HOST:
            _pin(stack, arylist)
        arrays = [array.wrap_numpy(each, ordinal, stream) for each in arylist]
        yield arrays[0] if len(arrays) == 1 else arrays
        if ordinal != HOST:
            driver.synchronize(driver.stream_of(stream), "end the use of mapped arrays")


def _pin(stack: contextlib.ExitStack, arrays: Sequence[NDArray[Any]]) -> None:
    """Pin arrays until a stack is closed."""
    for each in arrays:
        if each.nbytes:
            stack.enter_context(memory.pinned_range(*np.lib.array_utils.byte_bounds(each)))


# ---- layouts -----------------------------------------------------------------------------------


class ArrayLayout:
    """The checked shape, strides and dtype of a new array, and its size in bytes."""

    __slots__ = ("dtype", "shape", "size", "strides")

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None, order: Order
    ) -> None:
        self.dtype = as_supported_dtype(dtype)
        self.shape = _as_tuple(shape, "shape")
        if self.shape and min(self.shape) < 0:
            raise ValueError(f"a shape has no negative numbers: {self.shape}")
        if order not in ("C", "F"):
            raise ValueError(f"order is 'C' or 'F', not {order!r}")
        itemsize = self.dtype.itemsize
        if strides is None:
            self.strides = packed_strides(self.shape, itemsize, order)
            self.size = math.prod(self.shape) * itemsize
            return
        self.strides = _as_tuple(strides, "strides")
        if len(self.strides) != len(self.shape) or any(step < 0 for step in self.strides):
            raise ValueError(
                f"strides are a step in bytes for each of {self.shape}: {self.strides}"
            )
        last_offset = sum((n - 1) * step for n, step in zip(self.shape, self.strides))
        self.size = 0 if 0 in self.shape else last_offset + itemsize

    def array_in(self, allocate: Callable[[int], Memory]) -> NDArray[Any]:
        """Return a numpy array in a new allocation; without a GPU in pageable memory."""
        allocation = allocate(self.size) if driver.available() else HostMemory(self.size)
        layout = self.shape, self.strides, self.dtype
        return array_over(allocation.address, layout, memory=allocation)


def _as_tuple(numbers: ShapeLike, name: str) -> Shape:
    """Convert an integer or a sequence of integers to a tuple. Raises TypeError."""
    if isinstance(numbers, Iterable) and np.ndim(numbers):
        items: Iterable[Any] = numbers
    else:
        items = (numbers,)
    try:
        return tuple(map(operator.index, items))
    except TypeError:
        raise TypeError(
            f"{name} is an integer or a sequence of integers, not {numbers!r}"
        ) from None


def strides_like(ary: HasShape) -> Shape:
    """Return contiguous strides with the order of axes of another array."""
    shape, itemsize = tuple(ary.shape), np.dtype(ary.dtype).itemsize
    strides = getattr(ary, "strides", None)
    if not isinstance(strides, tuple):
        return packed_strides(shape, itemsize)
    new_strides, stride = [0] * len(shape), itemsize
    for axis in sorted(range(len(shape)), key=lambda a: (abs(strides[a]), -a)):
        new_strides[axis] = stride
        stride *= max(shape[axis], 1)
    return tuple(new_strides)


document_parameters(
    globals(),
    """
shape : int or tuple of int | The lengths of the axes.
dtype : dtype_like | The dtype of the elements.
strides : sequence of int | The strides in bytes; by default those of a contiguous array.
order : {"C", "F"} | The order of the axes in memory.
stream : Stream | Ignored.
device_array.stream, device_array_like.stream : Stream | The stream of copies of the array by
  default.
mapped.stream : Stream | The stream of the work, which the end of the ``with`` waits for.
device : int or "cpu" | The GPU, or host memory; by default the current GPU.
shareable : bool | Whether other processes can use the memory: see ``DeviceArray.get_ipc_handle``.
ary : array_like | An array with a shape and a dtype.
value : ndarray | The array.
In.value : array_like | The array to copy to the device.
*arylist : ndarray | The arrays.
portable : bool | Ignored: the memory is pinned for all GPUs.
wc : bool | Whether the memory is write-combined, so that the host should only write it.
attach_global : bool | Whether all streams may access the memory.
""",
)

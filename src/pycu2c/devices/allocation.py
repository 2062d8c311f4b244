"""New arrays: on the GPU, and of the host in memory that a GPU reaches well. The functions have
the names and parameters that numba gives them. Where there is no GPU all memory is the host's."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pycu2c.cuda_driver import driver
from pycu2c.devices import copies, interoperability
from pycu2c.devices.array import DeviceArray, Order
from pycu2c.devices.gpu_selection import Where, ordinal_of
from pycu2c.runtime.arguments.strides import Shape, array_over, packed_strides
from pycu2c.runtime.cuda import memory
from pycu2c.runtime.cuda.memory import HOST, HostMemory, ManagedMemory, PinnedMemory

ShapeLike: TypeAlias = "int | Sequence[int]"


class HasShape(Protocol):
    """What an array is made like."""

    @property
    def shape(self) -> Any: ...
    @property
    def strides(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


# ---- on the device -----------------------------------------------------------------------------


def to_device(
    obj: ArrayLike | DeviceArray,
    stream: object = 0,
    copy: bool = True,
    to: DeviceArray | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Copy an array to the device, or into ``to``, which is given back then. An array that is
    there is copied if ``copy`` says so."""
    stream = named(stream)
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, DeviceArray) or interoperability.is_on_device(obj):
        there = interoperability.as_device_array(obj)
        if device is not None and ordinal_of(device) != there.device:
            return there.copy_to(device, stream)
        return there.copy(stream=stream) if copy else there
    return copies.from_host(obj, ordinal_of(device), stream)


def device_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
    stream: object = 0,
    *,
    device: Where = None,
) -> DeviceArray:
    """A new array on the device, whose elements are whatever was there."""
    form = ArrayForm(shape, dtype, strides, order)
    where = copies.new_memory(form.size, ordinal_of(device))
    return DeviceArray(
        where, where.address, form.shape, form.strides, form.dtype, stream=named(stream)
    )


def device_array_like(ary: HasShape, stream: object = 0, *, device: Where = None) -> DeviceArray:
    """A new array on the device with the shape, dtype and order of axes of another one."""
    shape, strides = tuple(ary.shape), strides_like(ary)
    return device_array(shape, ary.dtype, strides, stream=stream, device=device)


def named(stream: object) -> object:
    """A stream that a call names; None for numba's 0. Raises LaunchError if it is none."""
    if stream is None or (type(stream) is int and not stream):
        return None
    driver.stream_of(stream)
    return stream


# ---- of the host -------------------------------------------------------------------------------


def pinned_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
) -> NDArray[Any]:
    """A numpy array that is copied to the device and back fastest, and while Python goes on."""
    form = ArrayForm(shape, dtype, strides, order)
    return form.on(PinnedMemory(form.size) if driver.available() else HostMemory(form.size))


def mapped_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
    stream: object = 0,
    portable: bool = False,
    wc: bool = False,
) -> NDArray[Any]:
    """A numpy array that kernels use where it lies, in memory of the host: not copied, and not
    waited for. ``wc``: the host writes to it and does not read it."""
    form = ArrayForm(shape, dtype, strides, order)
    if not driver.available():
        return form.on(HostMemory(form.size))
    return form.on(PinnedMemory(form.size, in_place=True, write_combined=wc))


def managed_array(
    shape: ShapeLike,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: Order = "C",
    stream: object = 0,
    attach_global: bool = True,
) -> NDArray[Any]:
    """A numpy array in memory that the driver moves to where it is used: kernels use it as it is,
    and are not waited for."""
    form = ArrayForm(shape, dtype, strides, order)
    if not driver.available():
        return form.on(HostMemory(form.size))
    return form.on(ManagedMemory(form.size, everywhere=attach_global))


def pinned_array_like(ary: HasShape) -> NDArray[Any]:
    """A new pinned array with the shape, dtype and order of axes of another one."""
    return pinned_array(tuple(ary.shape), ary.dtype, strides_like(ary))


def mapped_array_like(
    ary: HasShape, stream: object = 0, portable: bool = False, wc: bool = False
) -> NDArray[Any]:
    """A new mapped array with the shape, dtype and order of axes of another one."""
    return mapped_array(tuple(ary.shape), ary.dtype, strides_like(ary), wc=wc)


@contextlib.contextmanager
def pinned(*arylist: NDArray[Any]) -> Iterator[None]:
    """Pin arrays of numpy in a ``with``: copies of them are faster there, and go on while Python
    does. It takes as long as a copy or two."""
    with contextlib.ExitStack() as stack:
        for array in arylist:
            if driver.available() and array.nbytes:
                stack.enter_context(memory.pinned_range(*np.lib.array_utils.byte_bounds(array)))
        yield


@contextlib.contextmanager
def mapped(*arylist: NDArray[Any], stream: object = 0) -> Iterator[DeviceArray | list[DeviceArray]]:
    """Arrays of numpy as device arrays, in a ``with``: kernels use them where they lie, and are
    not waited for. Of one array it gives that, of several a list."""
    with contextlib.ExitStack() as stack:
        ordinal = ordinal_of(None)
        for array in arylist:
            if ordinal != HOST and array.nbytes:
                stack.enter_context(memory.pinned_range(*np.lib.array_utils.byte_bounds(array)))
        made = [interoperability.over_numpy(array, ordinal, named(stream)) for array in arylist]
        yield made[0] if len(made) == 1 else made
        if ordinal != HOST:
            driver.synchronize(driver.stream_of(named(stream)), "end the use of mapped arrays")


# ---- shapes ------------------------------------------------------------------------------------


class ArrayForm:
    """A shape with strides and a dtype, as a call gives them, checked."""

    __slots__ = ("dtype", "shape", "size", "strides")

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None, order: Order
    ) -> None:
        self.dtype = copies.checked(dtype)
        self.shape = whole(shape, "shape")
        if self.shape and min(self.shape) < 0:
            raise ValueError(f"a shape has no negative numbers: {self.shape}")
        if order not in ("C", "F"):
            raise ValueError(f"order is 'C' or 'F', not {order!r}")
        itemsize = self.dtype.itemsize
        if strides is None:
            self.strides = packed_strides(self.shape, itemsize, order)
            self.size = math.prod(self.shape) * itemsize
        else:
            self.strides = self._checked(whole(strides, "strides"))
            last = sum((n - 1) * step for n, step in zip(self.shape, self.strides))
            self.size = 0 if 0 in self.shape else last + itemsize

    def _checked(self, strides: Shape) -> Shape:
        if len(strides) != len(self.shape) or any(step < 0 for step in strides):
            raise ValueError(f"strides are a step in bytes for each of {self.shape}: {strides}")
        return strides

    def on(self, where: HostMemory | PinnedMemory | ManagedMemory) -> NDArray[Any]:
        """A numpy array in memory."""
        return array_over(where.address, (self.shape, self.strides, self.dtype), memory=where)


def whole(given: ShapeLike, what: str) -> Shape:
    """``5``, ``(2, 3)`` or a list as a tuple of ints."""
    if hasattr(given, "__index__"):
        return (operator.index(given),)
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        raise TypeError(f"{what} is a whole number or several, not {given!r}") from None


def strides_like(ary: HasShape) -> Shape:
    """Strides without gaps, with the axes in the order of another array's."""
    shape, itemsize = tuple(ary.shape), np.dtype(ary.dtype).itemsize
    given = getattr(ary, "strides", None)
    if not isinstance(given, tuple):
        return packed_strides(shape, itemsize)
    steps, step = [0] * len(shape), itemsize
    for axis in sorted(range(len(shape)), key=lambda a: (abs(given[a]), -a)):
        steps[axis] = step
        step *= max(shape[axis], 1)
    return tuple(steps)

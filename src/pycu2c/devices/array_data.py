"""The base class of device arrays: memory with a shape, its views, and its kernel argument.

Functions that copy or export arrays take this class. ``devices.array`` adds the methods that call
them.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pycu2c.cuda_driver import driver
from pycu2c.devices import view_geometry
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.native.extension import DeviceArrayBase
from pycu2c.runtime.arguments import array_checks
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape, array_over, is_contiguous, packed_strides
from pycu2c.runtime.cuda import memory
from pycu2c.runtime.cuda.memory import HOST, Memory

Order: TypeAlias = Literal["C", "F"]


def as_supported_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Convert to a dtype. Raises TypeError if its elements are Python objects."""
    result = np.dtype(dtype)
    if result.hasobject:
        raise TypeError(f"elements of dtype {result} are Python objects: a GPU has none")
    return result


def stream_or_none(stream: object) -> object:
    """Return a stream; None for numba's default, 0. Raises LaunchError if it is no stream."""
    if stream is None or (type(stream) is int and not stream):
        return None
    driver.stream_of(stream)
    return stream


class ArrayData(DeviceArrayBase):
    """Memory with a shape, strides and a dtype.

    The base class has the attributes that launches read: ``address``, ``device`` (the ordinal of
    the GPU; -1 for host memory), ``dtype``, ``shape`` in elements, ``strides`` in bytes, and
    ``writeable``. They do not change; a view is another object over the same memory.
    ``_unwritten``: whether the memory is new, and nothing has used ``address`` to write it.

    stream: the stream of copies that name none; None for the default stream.
    """

    __slots__ = ("__weakref__", "_argument", "_memory", "stream")

    def __init__(
        self,
        memory: Memory,
        address: int,
        shape: Shape,
        strides: Shape,
        dtype: np.dtype[Any],
        writeable: bool = True,
        stream: object = None,
    ) -> None:
        contiguous = is_contiguous(shape, strides, dtype.itemsize)
        super().__init__(address, memory.ordinal, shape, strides, dtype, writeable, contiguous)
        self.stream, self._memory = stream, memory
        self._argument: ArrayArgument | None = None

    @classmethod
    def empty(
        cls,
        shape: Shape,
        dtype: np.dtype[Any],
        ordinal: int,
        *,
        order: Order = "C",
        stream: object = None,
    ) -> Self:
        """Return a new contiguous array with undefined elements, on a GPU or on ``HOST``.

        Parameters
        ----------
        shape : tuple of int
            The lengths of the axes.
        dtype : dtype
            The dtype of the elements.
        ordinal : int
            The number of the GPU, or ``HOST``.
        order : {"C", "F"}, optional
            The order of the axes in memory.
        stream : Stream, optional
            The stream of copies of the array by default.
        """
        allocation = memory.allocate(math.prod(shape) * dtype.itemsize, ordinal)
        strides = packed_strides(shape, dtype.itemsize, order)
        return cls(allocation, allocation.address, shape, strides, dtype, stream=stream)

    # ---- attributes ----

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Return the bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Return the bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def alloc_size(self) -> int:
        """``nbytes`` under numba's name."""
        return self.nbytes

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address of the first element, for libraries that are called by ctypes."""
        return ctypes.c_void_p(self.address)

    def is_c_contiguous(self) -> bool:
        """Return whether the array is contiguous in C order."""
        return self._c_contiguous

    def is_f_contiguous(self) -> bool:
        """Return whether the array is contiguous in Fortran order."""
        return is_contiguous(self.shape, self.strides, self.itemsize, "F")

    @property
    def flags(self) -> dict[str, bool]:
        """``flags["C_CONTIGUOUS"]`` and ``flags["F_CONTIGUOUS"]``, as in numba."""
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    @property
    def _memory_order(self) -> Order:
        """ "F" if the array is contiguous in Fortran order only, else "C"."""
        return "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"

    # ---- views ----

    @property
    def _numpy_view(self) -> NDArray[Any]:
        """A numpy array with the same address and layout. For GPU memory only its attributes may
        be used: the host cannot read the elements."""
        keep = self._memory if self.device == HOST else None
        layout = self.shape, self.strides, self.dtype
        return array_over(self.address, layout, writeable=self.writeable, memory=keep)

    def _view(self, view: ViewGeometry, dtype: np.dtype[Any] | None = None) -> Self:
        return type(self)(
            self._memory,
            self.address + view.offset,
            view.shape,
            view.strides,
            dtype or self.dtype,
            self.writeable,
            self.stream,
        )

    @property
    def T(self) -> Self:
        """A view with reversed axes."""
        return self._view(ViewGeometry(0, self.shape[::-1], self.strides[::-1]))

    def transpose(self, *axes: Any) -> Self:
        """Return a view with reversed axes, or with the axes in the order of the arguments.

        Parameters
        ----------
        *axes : int or tuple of int
            The order of the axes; by default reversed.
        """
        if not axes or axes == (None,):
            return self.T
        order = axes if len(axes) != 1 or hasattr(axes[0], "__index__") else axes[0]
        return self._view(view_geometry.transposed(self.shape, self.strides, order))

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Self:
        """Return a view without all axes of length 1, or without the named ones.

        Parameters
        ----------
        axis : int or sequence of int, optional
            The axes to remove; by default all of length 1.

        Raises
        ------
        ValueError
            If the length of an axis is not 1.
        """
        axes = (axis,) if isinstance(axis, int) else None if axis is None else tuple(axis)
        return self._view(view_geometry.squeezed(self.shape, self.strides, axes))

    def view(self, dtype: DTypeLike) -> Self:
        """Return a view of the same bytes with another dtype.

        Parameters
        ----------
        dtype : dtype_like
            The dtype. One of another size changes the length of the last axis.
        """
        numpy_view = self._numpy_view.view(as_supported_dtype(dtype))
        return self._view(ViewGeometry(0, numpy_view.shape, numpy_view.strides), numpy_view.dtype)

    # ---- launches ----

    def used_on(self, stream: object) -> None:
        """Free the memory only after the present work of a stream.

        It is needed for work of other packages in streams that do not synchronize with the default
        stream. Launches call it.

        Parameters
        ----------
        stream : Stream or object
            The stream.
        """
        self._memory.used_on(stream)

    def __pycu2c_array__(self, name: str) -> ArrayArgument:
        """Return the kernel argument. It keeps the memory alive, not this object."""
        if self._argument is None:
            on_host, is_unwritten = self.device == HOST, self._unwritten
            argument = ArrayArgument(
                array_checks.dtype_of(self.dtype, name),
                self.shape,
                self.strides,
                self.address,
                not self.writeable,
                self.is_c_contiguous(),
                "host" if on_host else "device",
                self._numpy_view if on_host else self._memory,
                location_is_explicit=True,
            )
            array_checks.check_layout(argument, name)
            self._argument = argument
            return argument._replace(is_unwritten=is_unwritten)
        return self._argument

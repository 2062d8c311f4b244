"""Implement ``GPUArray``: device arrays with numpy's interface."""

from __future__ import annotations

import copyreg
import math
import operator
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.errors import translating
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.interoperability import ArrayInterop
from pycu2c.compat.pycuda.gpuarrays.kernels import launch
from pycu2c.compat.pycuda.gpuarrays.layout import Flags, compact_strides, is_number
from pycu2c.compat.pycuda.gpuarrays.operators import Operators
from pycu2c.compat.pycuda.memory.allocations import mem_alloc, on_gpu
from pycu2c.compat.pycuda.memory.host_memory import pagelocked_empty
from pycu2c.compat.pycuda.textures.array_binding import TextureBinding
from pycu2c.devices import copies, interoperability, view_geometry
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.devices.array_data import check_dtype
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.runtime.arguments.strides import packed_strides
from pycu2c.runtime.cuda.memory import HOST


class GPUArray(ArrayInterop, Operators, TextureBinding):
    """An array on the device, with elementwise operators."""

    __array_priority__ = 100
    __array_ufunc__ = None  # numpy defers operators to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        allocator: Any = mem_alloc,
        base: Any = None,
        gpudata: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> None:
        self.dtype = check_dtype(dtype)
        self.shape = _shape(shape)
        self.itemsize = self.dtype.itemsize
        self.size = self.mem_size = math.prod(self.shape)
        self.nbytes = self.size * self.itemsize
        if order not in ("C", "F"):
            raise ValueError(f"invalid order: {order}")
        given = packed_strides(self.shape, self.itemsize, order) if strides is None else strides
        self.strides = tuple(map(int, given))
        self.allocator, self.base = allocator or mem_alloc, base
        self.gpudata = gpudata
        if gpudata is None and self.size:
            self.gpudata = self.allocator(self.nbytes)

    # ---- attributes ----

    @property
    def flags(self) -> Flags:
        """Return ``flags.c_contiguous``, ``flags.f_contiguous`` and ``flags.forc``."""
        return Flags(self.shape, self.strides, self.itemsize)

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""
        return operator.index(self.gpudata) if self.gpudata is not None else 0

    def flat(self, order: str = "") -> DeviceArray:
        """Return the elements along one axis, in memory order; a copy if the array is not
        contiguous in the requested order."""
        flags = self.flags
        fits = flags.forc if not order else getattr(flags, f"{order.lower()}_contiguous")
        form = (self.size,), (self.itemsize,)
        if fits:
            return DeviceArray(self._memory(), self.ptr, *form, self.dtype)
        whole = self.device_array().copy(order=order or "C")  # type: ignore[arg-type]
        return whole._view(ViewGeometry(0, *form))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() "
                "or a.all()"
            )
        return bool(self.get().item())

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def _operand(self, given: Any) -> Any:
        if isinstance(given, GPUArray) or is_number(given):
            return given
        if isinstance(given, np.ndarray):
            raise TypeError("an array of numpy's is in memory of the host: to_gpu copies it")
        return as_gpuarray(given) if interoperability.is_on_device(given) else NotImplemented

    # ---- copies ----

    @translating
    def set(
        self, ary: NDArray[Any], async_: bool = False, stream: object = None, **kwargs: Any
    ) -> None:
        """Copy a numpy array to this array."""
        async_ = _is_async(async_, kwargs)
        if ary.size != self.size:
            raise ValueError("ary and self must be the same size")
        if ary.shape != self.shape:
            warnings.warn("Setting array from one with different shape.", stacklevel=2)
            ary = ary.reshape(self.shape)
        if ary.dtype != self.dtype:
            raise ValueError("ary and self must have the same dtype")
        if self.size:
            copies.assign(self.device_array(), ary, stream if async_ else None)

    def set_async(self, ary: NDArray[Any], stream: object = None) -> None:
        """Copy a numpy array to this array, in a stream."""
        self.set(ary, async_=True, stream=stream)

    @translating
    def get(
        self,
        ary: NDArray[Any] | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: object = None,
        **kwargs: Any,
    ) -> NDArray[Any]:
        """Copy the elements to a new or given numpy array."""
        async_ = _is_async(async_, kwargs)
        if ary is None:
            ary = self._host_array(pagelocked)
        elif ary.size != self.size:
            raise ValueError("self and ary must be the same size")
        elif ary.dtype != self.dtype:
            raise TypeError("self and ary must have the same dtype")
        elif ary.shape != self.shape:
            warnings.warn("get() between arrays of different shape", stacklevel=2)
            ary = ary.reshape(self.shape)
        if self.size:
            self.device_array().copy_to_host(ary, stream if async_ else None)
        return ary

    def _host_array(self, pagelocked: bool) -> NDArray[Any]:
        """Return a new array like this one, with its order of axes."""
        order = np.argsort([-abs(step) for step in self.strides], kind="stable").tolist()
        shape = tuple(self.shape[axis] for axis in order)
        made = (pagelocked_empty if pagelocked else np.empty)(shape, self.dtype)
        return made.transpose(np.argsort(order)) if order else made

    def get_async(self, stream: object = None, ary: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return a copy, in a stream."""
        return self.get(ary=ary, async_=True, stream=stream)

    @translating
    def copy(self, stream: object = None) -> GPUArray:
        """Return a copy."""
        made = GPUArray(self.shape, self.dtype, self.allocator, strides=compact_strides(self))
        if self.size:
            copies.assign(made.device_array(), self.device_array(), stream)
        return made

    def __copy__(self) -> GPUArray:
        return self.copy()

    @translating
    def astype(self, dtype: Any, stream: object = None) -> GPUArray:
        """Return the elements converted to another dtype, as numpy does."""
        if np.dtype(dtype) == self.dtype:
            return self.copy(stream=stream)
        made = self._new_like_me(dtype)
        if self.size:
            copies.assign(made.device_array(), self.device_array(), stream)
        return made

    def _new_like_me(self, dtype: Any = None) -> GPUArray:
        """Return a new array with the same shape and order of axes."""
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        order = self.memory_order
        return GPUArray(self.shape, wanted, self.allocator, order=order)

    @translating
    def fill(self, value: Any, stream: object = None) -> GPUArray:
        """Set all elements to a number."""
        if self.size:
            copies.assign(self.device_array(), np.asarray(value)[()], stream)
        return self

    # ---- complex numbers ----

    @property
    def real(self) -> GPUArray:
        """Return the real parts; the array itself if it is real."""
        return self.each(kernels.REAL, self._real_dtype()) if self._is_complex else self

    @property
    def imag(self) -> GPUArray:
        """Return the imaginary parts."""
        if self._is_complex:
            found: GPUArray = self.each(kernels.IMAGINARY, self._real_dtype())
            return found
        return self._new_like_me().fill(0)

    @property
    def _is_complex(self) -> bool:
        return self.dtype.kind == "c"

    def conj(self, out: GPUArray | None = None) -> GPUArray:
        """Return the conjugates; the array itself if it is real and ``out`` is not given."""
        if out is None and not self._is_complex:
            return self
        found: GPUArray = self.each(kernels.CONJUGATE, out=out)
        return found

    conjugate = conj

    # ---- views ----

    def _view(self, view: ViewGeometry, dtype: Any = None) -> GPUArray:
        return GPUArray(
            view.shape,
            self.dtype if dtype is None else dtype,
            self.allocator,
            base=self,
            gpudata=self.ptr + view.offset if self.size else None,
            strides=view.strides,
        )

    def __getitem__(self, index: Any) -> GPUArray:
        """Return a view; for a single element an array without axes."""
        return self._view(view_geometry.indexed(self.shape, self.strides, index))

    @translating
    def __setitem__(self, index: Any, value: Any) -> None:
        part = self[index]
        if is_number(value):
            part.fill(value)
            return
        if interoperability.is_on_device(value):
            value = as_gpuarray(value)
        if not isinstance(value, (GPUArray, np.ndarray)):
            raise TypeError("src must be GPUArray or ndarray")
        if value.shape != part.shape:
            raise ValueError("src and dst must be same shape")
        if value.dtype != part.dtype:
            raise TypeError("src and dst must have same dtype")
        source = value.device_array() if isinstance(value, GPUArray) else value
        if part.size:
            copies.assign(part.device_array(), source, None)

    def reshape(self, *shape: Any, order: str = "C") -> GPUArray:
        """Return a view with another shape."""
        if not self.flags.forc:
            raise RuntimeError("only contiguous arrays may be used as arguments to this operation")
        given = tuple(shape[0]) if isinstance(shape[0], (tuple, list)) else shape
        wanted = tuple(map(operator.index, given))
        if wanted.count(-1) > 1:
            raise ValueError("can only specify one unknown dimension")
        if -1 in wanted:
            known = -math.prod(wanted)
            wanted = tuple(self.size // known if n == -1 else n for n in wanted)
        if math.prod(wanted) != self.size:
            raise ValueError("total size of new array must be unchanged")
        return self._view(ViewGeometry(0, wanted, packed_strides(wanted, self.itemsize, order)))

    def ravel(self) -> GPUArray:
        """Return a view with one axis."""
        return self.reshape(self.size)

    def view(self, dtype: Any = None) -> GPUArray:
        """Return a view with another dtype."""
        seen = self.device_array()._numpy_view
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        axis = min(range(self.ndim), key=lambda a: abs(self.strides[a]), default=0)
        if self.shape[axis] * self.itemsize % wanted.itemsize:
            raise ValueError("new type not compatible with array")
        moved = np.moveaxis(np.moveaxis(seen, axis, -1).view(wanted), -1, axis)
        return self._view(ViewGeometry(0, moved.shape, moved.strides), wanted)

    def squeeze(self) -> GPUArray:
        """Return a view without axes of length 1."""
        return self._view(view_geometry.squeezed(self.shape, self.strides, None))

    def transpose(self, axes: Any = None) -> GPUArray:
        """Return a view with reversed or given axes."""
        order = range(self.ndim - 1, -1, -1) if axes is None else axes
        if len(order) != self.ndim:
            raise ValueError("axes don't match array")
        return self._view(view_geometry.transposed(self.shape, self.strides, order))

    @property
    def T(self) -> GPUArray:
        """Return a view with reversed axes."""
        return self.transpose()

    def any(self, stream: object = None, allocator: Any = None) -> GPUArray:
        """Return whether any element is true."""
        return self._search(kernels.find_true, False, stream, allocator)

    def all(self, stream: object = None, allocator: Any = None) -> GPUArray:
        """Return whether all elements are true."""
        return self._search(kernels.find_false, True, stream, allocator)

    @translating
    def _search(self, run: Any, default: bool, stream: object, allocator: Any) -> GPUArray:
        """Return a bool without axes, which a kernel changes if it finds an element."""
        found = GPUArray((), bool, allocator or self.allocator).fill(default, stream)
        launch(run, self.size, (self.flat(), found.flat()), stream)
        return found

    def reverse(self, stream: object = None) -> GPUArray:
        """Return the elements in reverse order, along one axis."""
        found: GPUArray = self.each(kernels.reversed_order, stream=stream)
        return found


def _shape(given: Any) -> tuple[int, ...]:
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if hasattr(given, "__index__"):
        return (operator.index(given),)
    return tuple(int(n) for n in given)


def _is_async(async_: bool, kwargs: dict[str, Any]) -> bool:
    """Parse ``async_=``, or ``async``, its name before Python reserved it."""
    old = kwargs.pop("async", None)
    if kwargs:
        raise TypeError(f"extra keyword arguments specified: {', '.join(kwargs)}")
    return bool(async_ if old is None else old)


def as_gpuarray(ary: Any) -> GPUArray:
    """Return a device array of any package as a GPUArray over the same memory. Raises
    TypeError."""
    if isinstance(ary, GPUArray):
        return ary
    if not (isinstance(ary, DeviceArray) or interoperability.is_on_device(ary)):
        raise TypeError(f"a {type(ary).__name__} is no array of the device: to_gpu copies there")
    found = as_device_array(ary)
    if (found.device == HOST) == on_gpu():
        raise TypeError("the array is in memory of the host, and the device is a GPU: copy it")
    return GPUArray(
        found.shape, found.dtype, base=found, gpudata=found.address, strides=found.strides
    )


copyreg.pickle(GPUArray, lambda array: (_from_numpy, (array.get(),)))


def _from_numpy(ary: NDArray[Any]) -> GPUArray:
    made = GPUArray(ary.shape, ary.dtype, strides=compact_strides(ary))
    made.set(ary)
    return made

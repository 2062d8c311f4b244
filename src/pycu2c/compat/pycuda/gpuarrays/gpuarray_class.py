"""Implement ``GPUArray``: device arrays with numpy's interface.

Kernels of this package use ``__pycu2c_array__``; other packages use DLPack or
``__cuda_array_interface__``.
"""

from __future__ import annotations

import copyreg
import math
import operator
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays import expressions
from pycu2c.compat.pycuda.gpuarrays.expressions import compute
from pycu2c.compat.pycuda.gpuarrays.operators import (
    comparison,
    is_number,
    operators,
    quotient_dtype,
)
from pycu2c.compat.pycuda.memory.allocations import DeviceAllocation, mem_alloc, on_gpu
from pycu2c.compat.pycuda.memory.host_memory import pagelocked_empty
from pycu2c.cuda_driver import driver
from pycu2c.devices import copies, interoperability, view_geometry
from pycu2c.devices.allocation import strides_like
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.devices.array_data import as_supported_dtype
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import is_contiguous, packed_strides
from pycu2c.runtime.cuda.memory import HOST, ExternalMemory, Memory


class Flags(NamedTuple):
    """The value of ``array.flags``."""

    c_contiguous: bool
    f_contiguous: bool

    @property
    def forc(self) -> bool:
        """Return whether the array is contiguous in either order."""
        return self.c_contiguous or self.f_contiguous


class GPUArray:
    """An array on the device, with elementwise operators, as ``pycuda.gpuarray.GPUArray``."""

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
        self.dtype = as_supported_dtype(dtype)
        self.shape = _as_shape(shape)
        self.itemsize = self.dtype.itemsize
        self.size = self.mem_size = math.prod(self.shape)
        self.nbytes = self.size * self.itemsize
        if order not in ("C", "F"):
            raise ValueError(f"invalid order: {order}")
        if strides is None:
            strides = packed_strides(self.shape, self.itemsize, order)
        self.strides = tuple(map(int, strides))
        self.allocator, self.base = allocator or mem_alloc, base
        self.gpudata = gpudata
        if gpudata is None and self.size:
            self.gpudata = self.allocator(self.nbytes)

    # ---- layout ----

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def flags(self) -> Flags:
        """Return ``flags.c_contiguous``, ``flags.f_contiguous`` and ``flags.forc``."""
        layout = self.shape, self.strides, self.itemsize
        return Flags(is_contiguous(*layout), is_contiguous(*layout, "F"))

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""
        return operator.index(self.gpudata) if self.gpudata is not None else 0

    def _new_like_me(self, dtype: Any = None) -> GPUArray:
        """Return a new array with the same shape and order of axes."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        flags = self.flags
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
        return GPUArray(self.shape, dtype, self.allocator, order=order)

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

    def _operand(self, value: Any) -> Any:
        if isinstance(value, GPUArray) or is_number(value):
            return value[()] if isinstance(value, np.ndarray) else value
        if isinstance(value, np.ndarray):
            raise TypeError("the operand is a numpy array in host memory: copy it with to_gpu")
        return as_gpuarray(value) if interoperability.is_on_device(value) else NotImplemented

    # ---- arithmetic ----

    __add__, __radd__, __iadd__ = operators(expressions.ADD)
    __sub__, __rsub__, __isub__ = operators(expressions.SUBTRACT)
    __mul__, __rmul__, __imul__ = operators(expressions.MULTIPLY)
    __truediv__, __rtruediv__, __itruediv__ = operators(expressions.DIVIDE, quotient_dtype)
    __pow__, __rpow__, __ipow__ = operators(expressions.power)
    __eq__, __ne__, __lt__ = map(comparison, ("==", "!=", "<"))
    __le__, __gt__, __ge__ = map(comparison, ("<=", ">", ">="))

    def __pos__(self) -> GPUArray:
        return self

    def __neg__(self) -> GPUArray:
        return self.map_elements("-x")

    def __abs__(self) -> GPUArray:
        return self.map_elements(expressions.absolute(self.dtype), self._real_dtype())

    def _real_dtype(self) -> np.dtype[Any]:
        return np.zeros((), self.dtype).real.dtype

    @translate_errors
    def map_elements(
        self, expression: str, dtype: Any = None, out: GPUArray | None = None, stream: Any = None
    ) -> GPUArray:
        """Return the values of an expression of each element ``x``."""
        result = self._new_like_me(dtype) if out is None else out
        compute(expression, "T x", (self,), result, stream)
        return result

    # ---- copies ----

    @translate_errors
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

    @translate_errors
    def get(
        self,
        ary: NDArray[Any] | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: object = None,
        **kwargs: Any,
    ) -> NDArray[Any]:
        """Copy the elements to a new or given numpy array.

        Returns
        -------
        ndarray
            The target.
        """
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
        order = np.argsort([-abs(stride) for stride in self.strides], kind="stable").tolist()
        shape = tuple(self.shape[axis] for axis in order)
        array = (pagelocked_empty if pagelocked else np.empty)(shape, self.dtype)
        return array.transpose(np.argsort(order)) if order else array

    def get_async(self, stream: object = None, ary: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return a copy, in a stream."""
        return self.get(ary=ary, async_=True, stream=stream)

    @translate_errors
    def copy(self, stream: object = None) -> GPUArray:
        """Return a copy."""
        copy = GPUArray(self.shape, self.dtype, self.allocator, strides=strides_like(self))
        if self.size:
            copies.assign(copy.device_array(), self.device_array(), stream)
        return copy

    def __copy__(self) -> GPUArray:
        return self.copy()

    @translate_errors
    def astype(self, dtype: Any, stream: object = None) -> GPUArray:
        """Return the elements converted to another dtype, as numpy does."""
        if np.dtype(dtype) == self.dtype:
            return self.copy(stream=stream)
        converted = self._new_like_me(dtype)
        if self.size:
            copies.assign(converted.device_array(), self.device_array(), stream)
        return converted

    @translate_errors
    def fill(self, value: Any, stream: object = None) -> GPUArray:
        """Set all elements to a number.

        Returns
        -------
        GPUArray
            The array itself.
        """
        if self.size:
            copies.assign(self.device_array(), np.asarray(value)[()], stream)
        return self

    # ---- complex numbers ----

    @property
    def real(self) -> GPUArray:
        """Return the real parts; the array itself if it is real."""
        return self.map_elements("x.real()", self._real_dtype()) if self._is_complex else self

    @property
    def imag(self) -> GPUArray:
        """Return the imaginary parts."""
        if self._is_complex:
            return self.map_elements("x.imag()", self._real_dtype())
        return self._new_like_me().fill(0)

    @property
    def _is_complex(self) -> bool:
        return self.dtype.kind == "c"

    def conj(self, out: GPUArray | None = None) -> GPUArray:
        """Return the conjugates; the array itself if it is real and ``out`` is not given."""
        if out is None and not self._is_complex:
            return self
        return self.map_elements("conj(x)" if self._is_complex else "x", out=out)

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

    @translate_errors
    def __setitem__(self, index: Any, value: Any) -> None:
        target = self[index]
        if is_number(value):
            target.fill(value)
            return
        if interoperability.is_on_device(value):
            value = as_gpuarray(value)
        if not isinstance(value, (GPUArray, np.ndarray)):
            raise TypeError("src must be GPUArray or ndarray")
        if value.shape != target.shape:
            raise ValueError("src and dst must be same shape")
        if value.dtype != target.dtype:
            raise TypeError("src and dst must have same dtype")
        source = value.device_array() if isinstance(value, GPUArray) else value
        if target.size:
            copies.assign(target.device_array(), source, None)

    def reshape(self, *shape: Any, order: str = "C") -> GPUArray:
        """Return a view with another shape.

        Raises
        ------
        ValueError
            If the shape has another number of elements.
        """
        if not self.flags.forc:
            raise RuntimeError("only contiguous arrays may be used as arguments to this operation")
        shape = tuple(shape[0]) if isinstance(shape[0], (tuple, list)) else shape
        lengths = tuple(map(operator.index, shape))
        if lengths.count(-1) > 1:
            raise ValueError("can only specify one unknown dimension")
        if -1 in lengths:
            other_elements = -math.prod(lengths)
            lengths = tuple(self.size // other_elements if n == -1 else n for n in lengths)
        if math.prod(lengths) != self.size:
            raise ValueError("total size of new array must be unchanged")
        return self._view(ViewGeometry(0, lengths, packed_strides(lengths, self.itemsize, order)))

    def ravel(self) -> GPUArray:
        """Return a view with one axis."""
        return self.reshape(self.size)

    def view(self, dtype: Any = None) -> GPUArray:
        """Return a view with another dtype."""
        array = self.device_array()._numpy_view
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        axis = min(range(self.ndim), key=lambda a: abs(self.strides[a]), default=0)
        if self.shape[axis] * self.itemsize % dtype.itemsize:
            raise ValueError("new type not compatible with array")
        view = np.moveaxis(np.moveaxis(array, axis, -1).view(dtype), -1, axis)
        return self._view(ViewGeometry(0, view.shape, view.strides), dtype)

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
        return reduce_arrays("any", self, dtype=np.bool_, stream=stream, allocator=allocator)

    def all(self, stream: object = None, allocator: Any = None) -> GPUArray:
        """Return whether all elements are true."""
        return reduce_arrays("all", self, dtype=np.bool_, stream=stream, allocator=allocator)

    @translate_errors
    def reverse(self, stream: object = None) -> GPUArray:
        """Return the elements of a contiguous array in reverse order."""
        result = self._new_like_me()
        compute("x[n - 1 - i]", "raw T x", (self.ravel(),), result.ravel(), stream)
        return result

    # ---- array interfaces ----

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not on_gpu():
            raise AttributeError("an array in host memory has no __cuda_array_interface__")
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def device_array(self) -> DeviceArray:
        """Return a device array of this package over the same memory."""
        return DeviceArray(self._memory(), self.ptr, self.shape, self.strides, self.dtype)

    def __pycu2c_array__(self, name: str) -> ArrayArgument:
        """Describe the array as a kernel argument."""
        return self.device_array().__pycu2c_array__(name)

    def __pycu2c_new__(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a new array for results of kernels of this package."""
        return GPUArray(shape, dtype, self.allocator)

    def __dlpack__(self, **kwargs: Any) -> object:
        return self.device_array().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_array().__dlpack_device__()

    def _memory(self) -> Memory:
        """Return the memory of the array, or of its base."""
        root: Any = self
        while isinstance(root.base, GPUArray):
            root = root.base
        if isinstance(root.base, DeviceArray):
            return root.base._memory
        if isinstance(root.gpudata, DeviceAllocation):
            return root.gpudata.memory
        ordinal = driver.current_ordinal() if on_gpu() else HOST
        return ExternalMemory(self, self.ptr, self.nbytes, ordinal)


@translate_errors
def reduce_arrays(
    name: str, *arrays: Any, dtype: Any = None, stream: object = None, allocator: Any = None
) -> GPUArray:
    """Return a reduction of arrays, as an array without axes."""
    operands = [as_gpuarray(each) for each in arrays]
    result_dtype = np.result_type(*(each.dtype for each in operands)) if dtype is None else dtype
    out = GPUArray((), result_dtype, allocator or operands[0].allocator)
    expressions.reduce(name, operands, out, stream)
    return out


def _is_async(async_: bool, kwargs: dict[str, Any]) -> bool:
    """Parse ``async_=``, or ``async``, its name before Python reserved it."""
    reserved_name = kwargs.pop("async", None)
    if kwargs:
        raise TypeError(f"extra keyword arguments specified: {', '.join(kwargs)}")
    return bool(async_ if reserved_name is None else reserved_name)


def as_gpuarray(ary: Any) -> GPUArray:
    """Return a device array of any package as a GPUArray over the same memory.

    Raises
    ------
    TypeError
        If it is not on the device.
    """
    if isinstance(ary, GPUArray):
        return ary
    if not (isinstance(ary, DeviceArray) or interoperability.is_on_device(ary)):
        raise TypeError(
            f"a {type(ary).__name__} is not a device array: copy numpy arrays with to_gpu"
        )
    array = as_device_array(ary)
    if (array.device == HOST) == on_gpu():
        raise TypeError("the array is in host memory, and the device is a GPU: copy it with to_gpu")
    return GPUArray(
        array.shape, array.dtype, base=array, gpudata=array.address, strides=array.strides
    )


copyreg.pickle(GPUArray, lambda array: (_from_numpy, (array.get(),)))


def _from_numpy(ary: NDArray[Any]) -> GPUArray:
    array = GPUArray(ary.shape, ary.dtype, strides=strides_like(ary))
    array.set(ary)
    return array


def _as_shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if hasattr(shape, "__index__"):
        return (operator.index(shape),)
    return tuple(int(n) for n in shape)

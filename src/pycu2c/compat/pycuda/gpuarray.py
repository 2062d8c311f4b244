"""Implement ``GPUArray``: device arrays of pycu2c with elementwise operators."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.reduction.kernel import ReductionKernel
from pycu2c.compat.pycuda.memory import mem_alloc, memory_behind, pagelocked_empty
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import copies, gpu_selection, interoperability, view_geometry
from pycu2c.devices.allocation import ArrayLayout, strides_like
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.runtime.cuda.memory import HOST

Expression: TypeAlias = str | Callable[[np.dtype[Any]], str]  # or a function of the result dtype


class Flags(NamedTuple):
    """The value of ``array.flags``."""

    c_contiguous: bool
    f_contiguous: bool

    @property
    def forc(self) -> bool:
        """Return whether the array is contiguous in either order."""
        return self.c_contiguous or self.f_contiguous


class GPUArray(DeviceArray):
    """An array on the device, with elementwise operators, as ``pycuda.gpuarray.GPUArray``."""

    __array_priority__ = 100
    __array_ufunc__ = None  # type: ignore[assignment]  # numpy defers operators to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        allocator: Any = mem_alloc,
        base: Any = None,
        gpudata: Any = None,
        strides: Any = None,
        order: Any = "C",
    ) -> None:
        layout = ArrayLayout(shape, dtype, None, order)
        self.allocator, self.base = allocator or mem_alloc, base
        if gpudata is None:
            gpudata = self.allocator(layout.size) if layout.size else 0
        self.gpudata = gpudata
        memory = memory_behind(base if isinstance(base, DeviceArray) else gpudata, layout.size)
        strides = layout.strides if strides is None else tuple(map(int, strides))
        super().__init__(memory, int(gpudata), layout.shape, strides, layout.dtype)

    @classmethod
    def empty(
        cls, shape: Any, dtype: Any, ordinal: int, *, order: Any = "C", stream: object = None
    ) -> GPUArray:
        return GPUArray(shape, dtype, order=order)

    def _view(self, view: ViewGeometry, dtype: np.dtype[Any] | None = None) -> GPUArray:
        address, strides = self.address + view.offset, view.strides
        return GPUArray(view.shape, dtype or self.dtype, self.allocator, self, address, strides)

    @property
    def mem_size(self) -> int:
        """Return the number of elements."""
        return self.size

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""
        return self.address

    @property
    def flags(self) -> Flags:  # type: ignore[override]
        """Return ``flags.c_contiguous``, ``flags.f_contiguous`` and ``flags.forc``."""
        return Flags(self.is_c_contiguous(), self.is_f_contiguous())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __reduce__(self) -> Any:
        return to_gpu, (self.get(),)

    def __pycu2c_new__(self, shape: tuple[int, ...], dtype: Any) -> GPUArray:
        """Return a new array for results of kernels of this package."""
        return GPUArray(shape, dtype, self.allocator)

    def __getitem__(self, key: Any) -> GPUArray:
        """Return a view; for a single element an array without axes."""
        return self._view(view_geometry.indexed(self.shape, self.strides, key))

    # ---- copies ----

    def set(self, ary: Any, async_: bool = False, stream: object = None) -> None:
        """Copy a numpy array to this array."""
        if (ary.size, ary.dtype) != (self.size, self.dtype):
            raise ValueError("ary and self must have the same size and dtype")
        copies.assign(self, ary.reshape(self.shape), stream)

    def set_async(self, ary: Any, stream: object = None) -> None:
        """Copy a numpy array to this array, in a stream."""
        self.set(ary, stream=stream)

    def get(
        self,
        ary: NDArray[Any] | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: object = None,
    ) -> NDArray[Any]:
        """Return the elements, copied to a new or given numpy array."""
        if ary is None and pagelocked:
            ary = pagelocked_empty(self.shape, self.dtype, self._memory_order)
        return copies.to_host(self, ary, stream)

    def get_async(self, stream: object = None, ary: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return a copy, in a stream."""
        return self.get(ary, stream=stream)

    def copy(self, order: Any = None, stream: object = None) -> GPUArray:
        """Return a contiguous copy."""
        return copies.duplicate(self, stream, order=order or self._memory_order)

    __copy__ = copy

    def astype(self, dtype: Any, stream: object = None) -> GPUArray:  # type: ignore[override]
        """Return the elements converted to another dtype, as numpy does."""
        return copies.duplicate(self, stream, dtype=np.dtype(dtype), order=self._memory_order)

    def fill(self, value: Any, stream: object = None) -> GPUArray:
        """Return the array, after setting all elements to a number."""
        copies.assign(self, np.asarray(value)[()], stream)
        return self

    def view(self, dtype: Any = None) -> GPUArray:
        """Return a view with another dtype."""
        return super().view(self.dtype if dtype is None else dtype)

    # ---- elementwise methods ----

    def __pos__(self) -> GPUArray:
        return self

    def __neg__(self) -> GPUArray:
        return apply("-x", self)

    def __abs__(self) -> GPUArray:
        expression = _ABSOLUTE.get(self.dtype.kind, "fabs(x)")
        return apply(expression, self, dtype=self._real_dtype())

    def _real_dtype(self) -> np.dtype[Any]:
        return np.zeros((), self.dtype).real.dtype

    @property
    def real(self) -> GPUArray:
        """Return the real parts; the array itself if it is real."""
        return apply("x.real()", self, dtype=self._real_dtype()) if self._is_complex else self

    @property
    def imag(self) -> GPUArray:
        """Return the imaginary parts."""
        return apply("x.imag()" if self._is_complex else "0", self, dtype=self._real_dtype())

    @property
    def _is_complex(self) -> bool:
        return self.dtype.kind == "c"

    def conj(self) -> GPUArray:
        """Return the conjugates; the array itself if it is real."""
        return apply("conj(x)", self) if self._is_complex else self

    conjugate = conj

    def reverse(self, stream: object = None) -> GPUArray:
        """Return the elements of an array with one axis in reverse order."""
        return self[::-1].copy(stream=stream)

    def any(self, stream: object = None, allocator: Any = None) -> GPUArray:
        """Return whether any element is true."""
        return reduce_arrays("any", self, dtype=np.bool_, stream=stream, allocator=allocator)

    def all(self, stream: object = None, allocator: Any = None) -> GPUArray:
        """Return whether all elements are true."""
        return reduce_arrays("all", self, dtype=np.bool_, stream=stream, allocator=allocator)


def as_gpuarray(ary: Any) -> GPUArray:
    """Return a device array of any package as a GPUArray over the same memory.

    Raises
    ------
    TypeError
        If it is not on the device.
    """
    if isinstance(ary, GPUArray):
        return ary
    if not interoperability.is_on_device(ary):
        name = type(ary).__name__
        raise TypeError(f"a {name} is not a device array: copy numpy arrays with to_gpu")
    array = as_device_array(ary)
    if (array.device == HOST) != (gpu_selection.ordinal_of(None) == HOST):
        raise TypeError("the array is in host memory, and the device is a GPU: copy it with to_gpu")
    return GPUArray(array.shape, array.dtype, None, array, array.address, array.strides)


def to_gpu(ary: Any, allocator: Any = mem_alloc, stream: object = None) -> GPUArray:
    """Return a copy of a numpy array on the device, with the same order of axes."""
    if not hasattr(ary, "shape"):
        name = type(ary).__name__
        raise TypeError(f"to_gpu takes numpy arrays: convert the {name} with np.array(…)")
    result = GPUArray(ary.shape, ary.dtype, allocator, strides=strides_like(ary))
    result.set(ary, stream=stream)
    return result


# ---- expressions, which kernels of pycu2c.cupy compute -----------------------------------------

_PREAMBLE = """
template <typename T> static __device__ inline T _smaller(T a, T b) { return (a < b) | (b != b) ? a : b; }
template <typename T> static __device__ inline T _larger(T a, T b) { return (a > b) | (b != b) ? a : b; }
template <typename T> static __device__ inline T _integer_power(T base, T exponent) {
    T power = exponent < 0 ? T(base * base == 1 ? 1 : 0) : T(1);
    for (T n = exponent < 0 ? -exponent : exponent; n; n /= 2, base *= base)
        if (n % 2) power *= base;
    return power;
}"""  # noqa: E501
MINIMUM, MAXIMUM = "_smaller(Z(x), Z(y))", "_larger(Z(x), Z(y))"
_ABSOLUTE = {"i": "x < 0 ? -x : x", "u": "x", "b": "x", "c": "abs(x)"}
_POWERS = {"i": "_integer_power(Z(x), Z(y))", "u": "_integer_power(Z(x), Z(y))"}

_OPERATORS: dict[str, Expression] = {  # of the operands x and y; Z is the type of the result
    "add": "Z(x) + Z(y)",
    "sub": "Z(x) - Z(y)",
    "mul": "Z(x) * Z(y)",
    "truediv": "Z(x) / Z(y)",
    "pow": lambda dtype: _POWERS.get(dtype.kind, "pow(Z(x), Z(y))"),
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@functools.cache
def _element_kernel(expression: str, inputs: str) -> ElementwiseKernel:
    name = "gpuarray_kernel"
    return ElementwiseKernel(inputs, "Z z", f"z = {expression}", name, preamble=_PREAMBLE)


def compute(
    expression: str, inputs: str, operands: Sequence[Any], out: Any, stream: object = None
) -> None:
    """Compute an expression for each element of ``out``, which it calls ``z``."""
    if out.size:
        _element_kernel(expression, inputs)(*operands, out, stream=stream)


def is_number(value: object) -> bool:
    """Return whether a value is a Python or numpy number."""
    return isinstance(value, numbers.Number | np.generic)


def new_like(array: GPUArray, dtype: Any = None) -> GPUArray:
    """Return a new array with the same shape and order of axes."""
    dtype = array.dtype if dtype is None else dtype
    return GPUArray(array.shape, dtype, array.allocator, order=array._memory_order)


def apply(
    expression: Expression,
    x: Any,
    y: Any = 0,
    dtype: Any = None,
    out: GPUArray | None = None,
    stream: object = None,
) -> GPUArray:
    """Return the values of an expression of an array ``x``, or of arrays and numbers x and y.

    Raises
    ------
    NotImplementedError
        If the shapes of two arrays differ, and none is a single number.
    """
    if out is None:
        shapes = [getattr(each, "shape", ()) for each in (x, y)]
        if () not in shapes and shapes[0] != shapes[1]:
            raise NotImplementedError(
                f"Broadcasting binary operator with shapes: {shapes[0]}, {shapes[1]}."
            )
        out = new_like(y if is_number(x) or (not shapes[0] and not is_number(y)) else x, dtype)
    text = expression if isinstance(expression, str) else expression(out.dtype)
    compute(text, "T x, U y", (x, y), out, stream)
    return out


def _operator(
    expression: Expression, *, swapped: bool = False, in_place: bool = False, compares: bool = False
) -> Callable[[GPUArray, Any], Any]:
    """Return the method of an operator; ``swapped``: this array is the right operand."""
    is_quotient = expression == _OPERATORS["truediv"]

    def method(self: GPUArray, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            if other.shape:
                raise TypeError("the operand is a numpy array in host memory: copy it with to_gpu")
            other = other[()]
        if not is_number(other):
            if not interoperability.is_on_device(other):
                return NotImplemented
            other = as_gpuarray(other)
        x, y = (other, self) if swapped else (self, other)
        if compares and is_number(other):
            dtype = self.dtype
        else:
            dtype = np.result_type(*(getattr(each, "dtype", each) for each in (x, y)))
            if is_quotient and dtype.kind in "iub":
                dtype = np.dtype(np.float64)
        return apply(expression, x, y, dtype, self if in_place else None)

    return method


for _name, _expression in _OPERATORS.items():
    setattr(GPUArray, f"__{_name}__", _operator(_expression))
    setattr(GPUArray, f"__r{_name}__", _operator(_expression, swapped=True))
    setattr(GPUArray, f"__i{_name}__", _operator(_expression, in_place=True))
for _name, _sign in _COMPARISONS.items():
    setattr(GPUArray, f"__{_name}__", _operator(f"x {_sign} y", compares=True))


# ---- reductions --------------------------------------------------------------------------------

_REDUCTIONS = {  # the name: the inputs, the mapped element, the combination, the identity
    "sum": ("T x", "Z(x)", "a + b", "0"),
    "dot": ("T x, U y", "Z(x) * Z(y)", "a + b", "0"),
    "any": ("T x", "x != T(0)", "a || b", "false"),
    "all": ("T x", "x != T(0)", "a && b", "true"),
    "min": ("T x", "x", "_smaller(a, b)", None),
    "max": ("T x", "x", "_larger(a, b)", None),
}


@functools.cache
def _reduction(name: str) -> ReductionKernel:
    inputs, mapped, combined, identity = _REDUCTIONS[name]
    return ReductionKernel(
        inputs, "Z z", mapped, combined, "z = a", identity, f"gpuarray_{name}", preamble=_PREAMBLE
    )


def reduce_arrays(
    name: str, *arrays: Any, dtype: Any = None, stream: object = None, allocator: Any = None
) -> GPUArray:
    """Return a reduction of arrays, as an array without axes."""
    operands = [as_gpuarray(each) for each in arrays]
    result_dtype = np.result_type(*(each.dtype for each in operands)) if dtype is None else dtype
    out = GPUArray((), result_dtype, allocator or operands[0].allocator)
    _reduction(name)(*operands, out, stream=stream)
    return out


document_parameters(
    globals(),
    """
shape : int or tuple of int | The lengths of the axes.
dtype : dtype_like | The dtype of the elements.
allocator : callable | Allocates the memory, as ``mem_alloc``.
base : object | The owner of the memory.
gpudata : DeviceAllocation or int | The memory; by default new memory.
strides : tuple of int | The strides in bytes.
order : {"C", "F"} | The order of the axes in memory.
ary : ndarray | A numpy array.
as_gpuarray.ary : array_like | A device array.
GPUArray.get.ary, GPUArray.get_async.ary : ndarray | The target; by default a new array.
pagelocked : bool | Whether a new target is page-locked.
async_ : bool | Ignored: copies in a stream do not wait.
value : number | The value of the elements.
stream : Stream | The stream of the work.
""",
)

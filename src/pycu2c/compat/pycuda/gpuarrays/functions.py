"""Implement the functions of ``pycuda.gpuarray``."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.c_types import vec as vec
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays import expressions
from pycu2c.compat.pycuda.gpuarrays.expressions import compute
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray as GPUArray
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import as_gpuarray as as_gpuarray
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import reduce_arrays
from pycu2c.compat.pycuda.gpuarrays.operators import Expression, apply_binary, is_number
from pycu2c.compat.pycuda.memory.allocations import mem_alloc
from pycu2c.devices.allocation import strides_like

empty = GPUArray

# ---- creation ----------------------------------------------------------------------------------


def to_gpu(ary: NDArray[Any], allocator: Any = mem_alloc) -> GPUArray:
    """Copy a numpy array to the device.

    Returns
    -------
    GPUArray
        A copy with the same strides.
    """
    if not hasattr(ary, "shape"):
        raise TypeError(
            f"to_gpu takes numpy arrays: convert the {type(ary).__name__} with np.array(…)"
        )
    result = GPUArray(ary.shape, ary.dtype, allocator, strides=strides_like(ary))
    result.set(ary)
    return result


def to_gpu_async(ary: NDArray[Any], allocator: Any = mem_alloc, stream: object = None) -> GPUArray:
    """Copy a numpy array to the device, in a stream.

    Returns
    -------
    GPUArray
        A copy with the same strides.
    """
    result = GPUArray(ary.shape, ary.dtype, allocator, strides=strides_like(ary))
    result.set_async(ary, stream)
    return result


def zeros(
    shape: Any, dtype: Any = np.float64, allocator: Any = mem_alloc, order: str = "C"
) -> GPUArray:
    """Return a new array of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(np.zeros((), dtype))


def ones(
    shape: Any, dtype: Any = np.float64, allocator: Any = mem_alloc, order: str = "C"
) -> GPUArray:
    """Return a new array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(np.ones((), dtype))


def empty_like(other_ary: GPUArray, dtype: Any = None, order: str = "K") -> GPUArray:
    """Return a new array with the shape, dtype and order of axes of another array."""
    dtype, flags = np.dtype(other_ary.dtype if dtype is None else dtype), other_ary.flags
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"Unsupported order: {order!r}")
    if order == "A":
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order != "K":
        return GPUArray(other_ary.shape, dtype, other_ary.allocator, order=order)
    scaled = [s // other_ary.itemsize * dtype.itemsize for s in strides_like(other_ary)]
    return GPUArray(other_ary.shape, dtype, other_ary.allocator, strides=scaled)


def zeros_like(other_ary: GPUArray, dtype: Any = None, order: str = "K") -> GPUArray:
    """Return a new array of zeros like another array."""
    result = empty_like(other_ary, dtype, order)
    return result.fill(np.zeros((), result.dtype))


def ones_like(other_ary: GPUArray, dtype: Any = None, order: str = "K") -> GPUArray:
    """Return a new array of ones like another array."""
    result = empty_like(other_ary, dtype, order)
    return result.fill(np.ones((), result.dtype))


@translate_errors
def arange(*args: Any, **kwargs: Any) -> GPUArray:
    """Return numbers from ``start`` up to ``stop``, with distance ``step``.

    Raises
    ------
    ValueError
        If ``stop`` is missing, or an argument is unknown.
    """
    stream = kwargs.pop("stream", None)
    start, stop, step, dtype = _arange_arguments(args, kwargs)
    if dtype is None:
        dtype = np.array([start, stop, step]).dtype
        if dtype != np.float32:
            warnings.warn(
                f"arange() creates an array of {dtype}: pass dtype= to select the type",
                stacklevel=3,
            )
    first, end, increment = (np.dtype(dtype).type(n) for n in (start, stop, step))
    result = GPUArray((builtins.max(0, math.ceil((end - first) / increment)),), dtype)
    compute("start + Z(i) * step", "Z start, Z step", (first, increment), result, stream)
    return result


def _arange_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Parse the arguments of ``arange``. Raises ValueError."""
    options = dict(kwargs)
    if args and isinstance(args[-1], np.dtype):
        options.setdefault("dtype", args[-1])
        args = args[:-1]
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    if len(args) > len(names):
        raise ValueError("too many arguments")
    for name, value in zip(names, args):
        if name in options:
            raise ValueError(f"may not specify '{name}' by position and keyword")
        options[name] = value
    for name in options:
        if name not in ("start", "stop", "step", "dtype"):
            raise ValueError(f"unexpected keyword argument '{name}'")
    if options.get("stop") is None:
        raise ValueError("stop argument required")
    return options.get("start", 0), options["stop"], options.get("step", 1), options.get("dtype")


# ---- indexing and shapes -----------------------------------------------------------------------


@translate_errors
def take(
    a: GPUArray, indices: GPUArray, out: GPUArray | None = None, stream: object = None
) -> GPUArray:
    """Return ``a[indices]``."""
    a, indices = as_gpuarray(a), as_gpuarray(indices)
    result = GPUArray(indices.shape, a.dtype, a.allocator) if out is None else out
    compute("x[k]", "raw Z x, K k", (a.ravel(), indices), result, stream)
    return result


def transpose(a: GPUArray, axes: Any = None) -> GPUArray:
    """Return a view with permuted axes."""
    return a.transpose(axes)


def reshape(a: GPUArray, *shape: Any, **kwargs: Any) -> GPUArray:
    """Return a view with another shape."""
    return a.reshape(*shape, **kwargs)


# ---- selection ---------------------------------------------------------------------------------


def if_positive(
    criterion: GPUArray,
    then_: GPUArray,
    else_: GPUArray,
    out: GPUArray | None = None,
    stream: object = None,
) -> GPUArray:
    """Select elements of one array where a criterion is positive, else of another.

    Returns
    -------
    GPUArray
        The selected elements.
    """
    return _select("c > 0", criterion, then_, else_, out, stream)


def where(
    criterion: GPUArray,
    then_: GPUArray,
    else_: GPUArray,
    out: GPUArray | None = None,
    stream: object = None,
) -> GPUArray:
    """Select elements of one array where a criterion is true, else of another.

    Returns
    -------
    GPUArray
        The selected elements.
    """
    return _select("c", criterion, then_, else_, out, stream)


@translate_errors
def _select(
    condition: str, criterion: Any, then: Any, otherwise: Any, out: GPUArray | None, stream: object
) -> GPUArray:
    arrays = [as_gpuarray(each) for each in (criterion, then, otherwise)]
    if len({each.shape for each in arrays}) > 1:
        raise ValueError("shapes do not match")
    if arrays[1].dtype != arrays[2].dtype:
        raise ValueError("dtypes do not match")
    result = empty_like(arrays[1]) if out is None else out
    compute(f"{condition} ? x : y", "C c, Z x, Z y", arrays, result, stream)
    return result


def apply_to_operands(
    expression: Expression, a: Any, b: Any, out: GPUArray | None = None, stream: object = None
) -> GPUArray:
    """Return the value of an expression of two arrays, or of an array and a number."""
    x, y = (each if is_number(each) else as_gpuarray(each) for each in (a, b))
    dtype = (y if is_number(x) else x).dtype
    result: GPUArray = apply_binary(expression, x, y, dtype, out, stream)
    return result


def minimum(a: Any, b: Any, out: GPUArray | None = None, stream: object = None) -> GPUArray:
    """Return the smaller elements."""
    return apply_to_operands(expressions.MINIMUM, a, b, out, stream)


def maximum(a: Any, b: Any, out: GPUArray | None = None, stream: object = None) -> GPUArray:
    """Return the larger elements."""
    return apply_to_operands(expressions.MAXIMUM, a, b, out, stream)


# ---- reductions --------------------------------------------------------------------------------


def _reduction(name: str, doc: str) -> Callable[..., GPUArray]:
    """Return a function that reduces an array to an array without axes."""
    logical = name in ("any", "all")

    def reduce(a: GPUArray, stream: object = None, allocator: Any = None) -> GPUArray:
        return reduce_arrays(
            name, a, dtype=np.bool_ if logical else None, stream=stream, allocator=allocator
        )

    reduce.__name__, reduce.__doc__ = name, f"Return {doc}."
    return reduce


any = _reduction("any", "whether any element is true")
all = _reduction("all", "whether all elements are true")
min = _reduction("min", "the minimum")
max = _reduction("max", "the maximum")


def sum(a: GPUArray, dtype: Any = None, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return the sum of the elements, as an array without axes."""
    return reduce_arrays("sum", a, dtype=dtype, stream=stream, allocator=allocator)


def dot(
    a: GPUArray, b: GPUArray, dtype: Any = None, stream: object = None, allocator: Any = None
) -> GPUArray:
    """Return the sum of the products of elements."""
    return reduce_arrays("dot", a, b, dtype=dtype, stream=stream, allocator=allocator)

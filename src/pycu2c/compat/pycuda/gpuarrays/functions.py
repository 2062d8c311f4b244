"""Implement the functions of ``pycuda.gpuarray``."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.c_types import vec as vec
from pycu2c.compat.pycuda.contexts import Context
from pycu2c.compat.pycuda.enums import device_attribute
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray as GPUArray
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import as_gpuarray as as_gpuarray
from pycu2c.compat.pycuda.gpuarrays.kernels import BinaryOperation, launch
from pycu2c.compat.pycuda.gpuarrays.layout import is_number
from pycu2c.compat.pycuda.kernels.reduction import reduce_arrays
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


def empty_like(other_ary: GPUArray, dtype: Any = None, order: str = "K", **kwargs: Any) -> GPUArray:
    """Return a new array with the shape, dtype and order of axes of another array."""
    allocator = kwargs.pop("allocator", None) or other_ary.allocator
    if kwargs:
        raise TypeError(f"extra keyword arguments specified: {', '.join(kwargs)}")
    dtype = np.dtype(other_ary.dtype if dtype is None else dtype)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"Unsupported order: {order!r}")
    flags = other_ary.flags
    if order == "A":
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order == "K":
        strides = strides_like(other_ary)
        scaled = [stride // other_ary.itemsize * dtype.itemsize for stride in strides]
        return GPUArray(other_ary.shape, dtype, allocator, strides=scaled)
    return GPUArray(other_ary.shape, dtype, allocator, order=order)


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
    result_dtype = np.dtype(dtype)
    first, end, increment = (result_dtype.type(n) for n in (start, stop, step))
    result = GPUArray((builtins.max(0, math.ceil((end - first) / increment)),), result_dtype)
    launch(kernels.arange, result.size, (first, increment, result.flat()), stream)
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


def splay(n: int, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return a grid and a block for a number of elements, as PyCUDA does."""
    device = dev or Context.get_device()
    min_threads, max_threads = 32, 128
    blocks = 32 * device.get_attribute(device_attribute.MULTIPROCESSOR_COUNT)
    if n < min_threads:
        return (1, 1), (min_threads, 1, 1)
    if n < blocks * min_threads:
        return (-(-n // min_threads), 1), (min_threads, 1, 1)
    if n < blocks * max_threads:
        warps = -(-n // min_threads)
        return (blocks, 1), (-(-warps // blocks) * min_threads, 1, 1)
    return (blocks, 1), (max_threads, 1, 1)


# ---- indexing ----------------------------------------------------------------------------------


@translate_errors
def take(
    a: GPUArray, indices: GPUArray, out: GPUArray | None = None, stream: object = None
) -> GPUArray:
    """Return ``a[indices]``."""
    a, indices = as_gpuarray(a), as_gpuarray(indices)
    result = GPUArray(indices.shape, a.dtype, a.allocator) if out is None else out
    launch(kernels.take, indices.size, (a.flat(), indices.flat(), result.flat()), stream)
    return result


def multi_take(
    arrays: Sequence[GPUArray], indices: GPUArray, out: Any = None, stream: object = None
) -> list[GPUArray]:
    """Return ``a[indices]`` for several arrays."""
    targets = out or [None] * len(arrays)
    if len(targets) != len(arrays):
        raise ValueError("out and arrays must have the same length")
    return [take(a, indices, target, stream) for a, target in zip(arrays, targets)]


def _targets(arrays: Sequence[GPUArray], shape: Any, out: Any) -> list[GPUArray]:
    if out is None:
        return [GPUArray(shape, a.dtype, a.allocator) for a in arrays]
    if len(out) != len(arrays):
        raise ValueError("out and arrays must have the same length")
    if builtins.any(a.dtype != target.dtype for a, target in zip(arrays, out)):
        raise TypeError("arrays and out must have the same dtype")
    return list(out)


@translate_errors
def multi_put(
    arrays: Sequence[GPUArray],
    dest_indices: GPUArray,
    dest_shape: Any = None,
    out: Any = None,
    stream: object = None,
) -> list[GPUArray]:
    """Assign ``out[dest_indices] = a`` for several arrays.

    Returns
    -------
    list of GPUArray
        The targets.
    """
    targets = _targets(arrays, dest_shape, out)
    for a, target in zip(arrays, targets):
        arguments = (a.flat(), dest_indices.flat(), target.flat())
        launch(kernels.put, dest_indices.size, arguments, stream)
    return targets


@translate_errors
def multi_take_put(
    arrays: Sequence[GPUArray],
    dest_indices: GPUArray,
    src_indices: GPUArray,
    dest_shape: Any = None,
    out: Any = None,
    stream: object = None,
    src_offsets: Sequence[int] | None = None,
) -> list[GPUArray]:
    """Assign ``out[dest_indices] = a[src_indices + offset]`` for several arrays.

    Returns
    -------
    list of GPUArray
        The targets.
    """
    if src_indices.dtype != dest_indices.dtype:
        raise TypeError("src_indices and dest_indices must have the same dtype")
    if src_indices.ndim != 1 or src_indices.shape != dest_indices.shape:
        raise ValueError("src_indices and dest_indices must have the same shape, of one axis")
    targets = _targets(arrays, dest_shape, out)
    offsets = src_offsets or [0] * len(arrays)
    if len(offsets) != len(arrays):
        raise ValueError("src_indices and src_offsets must have the same length")
    for a, offset, target in zip(arrays, offsets, targets):
        arguments = (a.flat(), src_indices.flat(), offset, dest_indices.flat(), target.flat())
        launch(kernels.take_put, src_indices.size, arguments, stream)
    return targets


# ---- shapes ------------------------------------------------------------------------------------


def concatenate(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """Concatenate arrays along an axis.

    Returns
    -------
    GPUArray
        The new array.
    """
    arrays = [as_gpuarray(each) for each in arrays]
    first = arrays[0]
    axis = axis % builtins.max(first.ndim, 1)
    for index, each in enumerate(arrays):
        if each.ndim != first.ndim:
            raise ValueError(
                f"{index}'th array has different number of axes (should have {first.ndim}, has "
                f"{each.ndim})"
            )
        if builtins.any(
            m != n for a, (m, n) in enumerate(zip(each.shape, first.shape)) if a != axis
        ):
            raise ValueError(f"{index}'th array has residual not matching other arrays")
    length = builtins.sum(each.shape[axis] for each in arrays)
    shape = (*first.shape[:axis], length, *first.shape[axis + 1 :])
    dtype = np.result_type(*(each.dtype for each in arrays))
    result, start = GPUArray(shape, dtype, allocator or first.allocator), 0
    for each in arrays:
        stop = start + each.shape[axis]
        converted = each if each.dtype == dtype else each.astype(dtype)
        result[(*(slice(None),) * axis, slice(start, stop))] = converted
        start = stop
    return result


def stack(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """Stack arrays along a new axis.

    Returns
    -------
    GPUArray
        The new array.
    """
    if not arrays:
        raise ValueError("need at least one array to stack")
    arrays = [as_gpuarray(each) for each in arrays]
    first = arrays[0]
    if shapes_differ(arrays):
        raise ValueError("arrays must have the same shape")
    axis = first.ndim if axis == -1 else axis
    if not 0 <= axis <= first.ndim:
        raise ValueError("invalid axis")
    shape = (*first.shape[:axis], len(arrays), *first.shape[axis:])
    dtype = np.result_type(*(each.dtype for each in arrays))
    order = "C" if axis == 0 else "F"
    result = GPUArray(shape, dtype, allocator or first.allocator, order=order)
    for index, each in enumerate(arrays):
        converted = each if each.dtype == dtype else each.astype(dtype)
        result[(*(slice(None),) * axis, index)] = converted
    return result


def shapes_differ(arrays: Sequence[GPUArray]) -> bool:
    """Return whether arrays have different shapes."""
    return len({each.shape for each in arrays}) > 1


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
    if not criterion.shape == then_.shape == else_.shape:
        raise ValueError("shapes do not match")
    if then_.dtype != else_.dtype:
        raise ValueError("dtypes do not match")
    return _select(kernels.select_positive, (criterion, then_, else_), out, stream)


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
    if not criterion.shape == then_.shape == else_.shape:
        raise NotImplementedError("shape broadcast not implemented")
    if then_.dtype != else_.dtype:
        raise NotImplementedError("dtype broadcast not implemented")
    return _select(kernels.select, (criterion, then_, else_), out, stream)


@translate_errors
def _select(
    dispatcher: Any, arrays: tuple[GPUArray, ...], out: GPUArray | None, stream: object
) -> GPUArray:
    arrays = tuple(map(as_gpuarray, arrays))
    result = empty_like(arrays[1]) if out is None else out
    order = result.memory_order if result.ndim > 1 else ""
    launch(dispatcher, result.size, (*(each.flat(order) for each in arrays), result.flat()), stream)
    return result


@translate_errors
def apply_binary(
    operation: BinaryOperation, a: Any, b: Any, out: GPUArray | None, stream: object
) -> GPUArray:
    """Return the result of an operation on two arrays, or on an array and a number."""
    a, b = (each if is_number(each) else as_gpuarray(each) for each in (a, b))
    result = empty_like(b if is_number(a) else a) if out is None else out
    order = result.memory_order if result.ndim > 1 else ""
    x, y = (each if is_number(each) else each.flat(order) for each in (a, b))
    operation.run(x, y, result.flat(), stream)
    return result


def minimum(a: Any, b: Any, out: GPUArray | None = None, stream: object = None) -> GPUArray:
    """Return the smaller elements."""
    return apply_binary(kernels.MINIMUM, a, b, out, stream)


def maximum(a: Any, b: Any, out: GPUArray | None = None, stream: object = None) -> GPUArray:
    """Return the larger elements."""
    return apply_binary(kernels.MAXIMUM, a, b, out, stream)


def _apply_logical(
    operation: BinaryOperation, x1: Any, x2: Any, out: GPUArray | None, allocator: Any
) -> GPUArray:
    arrays = [x for x in (x1, x2) if isinstance(x, GPUArray)]
    if builtins.any(not isinstance(x, GPUArray) and not is_number(x) for x in (x1, x2)):
        raise ValueError("logical functions take numbers and GPUArrays")
    if not arrays:
        result = GPUArray((), np.bool_, allocator or mem_alloc) if out is None else out
        return result.fill(bool(operation.function(x1, x2)))
    if shapes_differ(arrays):
        raise NotImplementedError("Broadcasting not supported")
    result = empty_like(arrays[0], np.bool_) if out is None else out
    return apply_binary(operation, x1, x2, result, None)


def logical_and(
    x1: Any, x2: Any, /, out: GPUArray | None = None, *, allocator: Any = None
) -> GPUArray:
    """Return the logical conjunction."""
    return _apply_logical(kernels.LOGICAL_AND, x1, x2, out, allocator)


def logical_or(
    x1: Any, x2: Any, /, out: GPUArray | None = None, *, allocator: Any = None
) -> GPUArray:
    """Return the logical disjunction."""
    return _apply_logical(kernels.LOGICAL_OR, x1, x2, out, allocator)


def logical_not(x: Any, /, out: GPUArray | None = None, *, allocator: Any = mem_alloc) -> GPUArray:
    """Return the logical negation."""
    if is_number(x):
        result = GPUArray((), np.bool_, allocator) if out is None else out
        return result.fill(not x)
    result = empty_like(x, np.bool_) if out is None else out
    return as_gpuarray(x.map_elements(kernels.LOGICAL_NOT, out=result))


# ---- reductions --------------------------------------------------------------------------------


def sum(a: GPUArray, dtype: Any = None, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return the sum of the elements, as an array without axes."""
    return reduce_arrays("sum", a, dtype=dtype, stream=stream, allocator=allocator)


def any(a: GPUArray, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return whether any element is true."""
    return reduce_arrays("any", a, dtype=np.bool_, stream=stream, allocator=allocator)


def all(a: GPUArray, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return whether all elements are true."""
    return reduce_arrays("all", a, dtype=np.bool_, stream=stream, allocator=allocator)


def subset_sum(
    subset: GPUArray,
    a: GPUArray,
    dtype: Any = None,
    stream: object = None,
    allocator: Any = None,
) -> GPUArray:
    """Return the sum of ``a[subset]``."""
    options = {"subset": subset, "stream": stream, "allocator": allocator}
    return reduce_arrays("sum", a, dtype=dtype, **options)


def dot(
    a: GPUArray, b: GPUArray, dtype: Any = None, stream: object = None, allocator: Any = None
) -> GPUArray:
    """Return the sum of the products of elements."""
    return reduce_arrays("dot", a, b, dtype=dtype, stream=stream, allocator=allocator)


def subset_dot(
    subset: GPUArray, a: GPUArray, b: GPUArray, dtype: Any = None, **kwargs: Any
) -> GPUArray:
    """Return the sum of ``a[subset] * b[subset]``."""
    return reduce_arrays("dot", a, b, dtype=dtype, subset=subset, **kwargs)


def min(a: GPUArray, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return the minimum."""
    return reduce_arrays("min", a, stream=stream, allocator=allocator)


def max(a: GPUArray, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return the maximum."""
    return reduce_arrays("max", a, stream=stream, allocator=allocator)


def subset_min(subset: GPUArray, a: GPUArray, stream: object = None) -> GPUArray:
    """Return the minimum of ``a[subset]``."""
    return reduce_arrays("min", a, subset=subset, stream=stream)


def subset_max(subset: GPUArray, a: GPUArray, stream: object = None) -> GPUArray:
    """Return the maximum of ``a[subset]``."""
    return reduce_arrays("max", a, subset=subset, stream=stream)

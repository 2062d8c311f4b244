"""Implement the functions of ``pycuda.gpuarray`` and ``pycuda.cumath``, and ``curandom.rand``."""

from __future__ import annotations

import builtins
import functools
import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c import cuda
from pycu2c.compat.pycuda.gpuarray import (
    MAXIMUM,
    MINIMUM,
    GPUArray,
    apply,
    as_gpuarray,
    compute,
    is_number,
    new_like,
    reduce_arrays,
    to_gpu,
)
from pycu2c.compat.pycuda.memory import mem_alloc
from pycu2c.cuda.random import philox_uniform_float32, philox_uniform_float64
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.kernels.kernel import kernel

empty = GPUArray


def to_gpu_async(ary: NDArray[Any], allocator: Any = mem_alloc, stream: object = None) -> GPUArray:
    """Return a copy of a numpy array on the device, made in a stream."""
    return to_gpu(ary, allocator, stream)


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


def empty_like(other_ary: GPUArray, dtype: Any = None) -> GPUArray:
    """Return a new array with the shape, dtype and order of axes of another array."""
    return new_like(other_ary, dtype)


def zeros_like(other_ary: GPUArray, dtype: Any = None) -> GPUArray:
    """Return a new array of zeros like another array."""
    result = new_like(other_ary, dtype)
    return result.fill(np.zeros((), result.dtype))


def ones_like(other_ary: GPUArray, dtype: Any = None) -> GPUArray:
    """Return a new array of ones like another array."""
    result = new_like(other_ary, dtype)
    return result.fill(np.ones((), result.dtype))


def arange(*args: Any, dtype: Any = None, stream: object = None) -> GPUArray:
    """Return numbers from ``start`` up to ``stop``, with distance ``step``, as ``numpy.arange``."""
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    dtype = np.array([start, stop, step]).dtype if dtype is None else np.dtype(dtype)
    first, end, increment = (dtype.type(n) for n in (start, stop, step))
    result = GPUArray((builtins.max(0, math.ceil((end - first) / increment)),), dtype)
    compute("start + Z(i) * step", "Z start, Z step", (first, increment), result, stream)
    return result


# ---- indexing and selection --------------------------------------------------------------------


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


def reshape(a: GPUArray, *shape: Any, order: Any = "C") -> Any:
    """Return a view with another shape."""
    return a.reshape(*shape, order=order)


def _selection(condition: str, doc: str) -> Callable[..., GPUArray]:
    """Return a function that selects elements of two arrays."""

    def select(
        criterion: Any, then_: Any, else_: Any, out: GPUArray | None = None, stream: object = None
    ) -> GPUArray:
        arrays = [as_gpuarray(each) for each in (criterion, then_, else_)]
        if len({each.shape for each in arrays}) > 1:
            raise ValueError("shapes do not match")
        if arrays[1].dtype != arrays[2].dtype:
            raise ValueError("dtypes do not match")
        result = new_like(arrays[1]) if out is None else out
        compute(f"{condition} ? x : y", "C c, Z x, Z y", arrays, result, stream)
        return result

    select.__doc__ = f"Return elements of one array where a criterion is {doc}, else of another."
    return select


if_positive, where = _selection("c > 0", "positive"), _selection("c", "true")


def _binary(expression: str, doc: str) -> Callable[..., GPUArray]:
    """Return an elementwise function of two arrays, or of an array and a number."""

    def function(a: Any, b: Any, out: GPUArray | None = None, stream: object = None) -> GPUArray:
        x, y = (each if is_number(each) else as_gpuarray(each) for each in (a, b))
        return apply(expression, x, y, (y if is_number(x) else x).dtype, out, stream)

    function.__doc__ = f"Return {doc}."
    return function


minimum, maximum = _binary(MINIMUM, "the smaller elements"), _binary(MAXIMUM, "the larger elements")
atan2 = _binary("atan2(Z(x), Z(y))", "the angles of points, from their y and x")


# ---- reductions --------------------------------------------------------------------------------


def _reduction(name: str, doc: str, dtype: Any = None) -> Callable[..., GPUArray]:
    """Return a function that reduces an array to an array without axes."""

    def reduce(a: GPUArray, stream: object = None, allocator: Any = None) -> GPUArray:
        return reduce_arrays(name, a, dtype=dtype, stream=stream, allocator=allocator)

    reduce.__doc__ = f"Return {doc}."
    return reduce


any = _reduction("any", "whether any element is true", np.bool_)
all = _reduction("all", "whether all elements are true", np.bool_)
min, max = _reduction("min", "the minimum"), _reduction("max", "the maximum")


def sum(a: GPUArray, dtype: Any = None, stream: object = None, allocator: Any = None) -> GPUArray:
    """Return the sum of the elements, as an array without axes."""
    return reduce_arrays("sum", a, dtype=dtype, stream=stream, allocator=allocator)


def dot(
    a: GPUArray, b: GPUArray, dtype: Any = None, stream: object = None, allocator: Any = None
) -> GPUArray:
    """Return the sum of the products of elements."""
    return reduce_arrays("dot", a, b, dtype=dtype, stream=stream, allocator=allocator)


# ---- pycuda.cumath -----------------------------------------------------------------------------


def _unary(name: str) -> Callable[..., GPUArray]:
    """Return an elementwise function."""

    def function(array: GPUArray, out: GPUArray | None = None, stream: object = None) -> GPUArray:
        return apply(f"{name}(x)", as_gpuarray(array), out=out, stream=stream)

    function.__doc__ = f"Return ``{name}`` of each element."
    return function


ceil, floor, fabs = map(_unary, ("ceil", "floor", "fabs"))
exp, log, log10, sqrt = map(_unary, ("exp", "log", "log10", "sqrt"))
sin, cos, tan = map(_unary, ("sin", "cos", "tan"))
asin, acos, atan = arcsin, arccos, arctan = tuple(map(_unary, ("asin", "acos", "atan")))
sinh, cosh, tanh = map(_unary, ("sinh", "cosh", "tanh"))


# ---- pycuda.curandom ---------------------------------------------------------------------------


@functools.cache
def _random_kernel(dtype: np.dtype[Any]) -> Any:
    """Return a kernel that fills an array with random numbers of a dtype."""
    draw: Any = philox_uniform_float32 if dtype == np.float32 else philox_uniform_float64

    @kernel
    def run(seed, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.size:
            out[i] = draw(seed, 0, i)

    return run


def rand(shape: Any, dtype: Any = np.float32, stream: object = None) -> GPUArray:
    """Return a new array of floating-point numbers from 0 to 1.

    Raises
    ------
    NotImplementedError
        If the dtype is not float32 or float64.
    """
    array = GPUArray(shape, dtype)
    if array.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"random numbers are float32 or float64, not {array.dtype}")
    if array.size:
        launch = _random_kernel(array.dtype)[-(-array.size // 256), 256, stream]
        launch(secrets.randbits(32), array.ravel())
    return array


document_parameters(
    globals(),
    """
a, b, array, other_ary : GPUArray | The array.
atan2.a, atan2.b, function.a, function.b : GPUArray or number | An operand.
ary : ndarray | The array.
shape : int or tuple of int | The lengths of the axes.
*shape : int or tuple of int | The lengths of the axes; one may be -1.
axes : sequence of int | The order of the axes; by default reversed.
dtype : dtype_like | The dtype of the result.
order : {"C", "F"} | The order of the axes in memory.
allocator : callable | Allocates the result, as ``mem_alloc``.
indices : GPUArray | The indices of the elements.
criterion, then_, else_ : GPUArray | Arrays of the same shape.
out : GPUArray | The target; by default a new array.
stream : Stream | The stream of the work.
*args : number | ``start``, ``stop`` and ``step``, of which only ``stop`` is required.
""",
)

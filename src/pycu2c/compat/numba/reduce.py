"""Implement ``cuda.reduce``: reduce an array with a binary function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.compat.numba.array_placement import (
    Backend,
    as_input,
    backend_of,
    empty_result,
    ordinal_for,
    to_device_array,
)
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.kernels.kernel import DeviceFunction, Kernel, device, make_kernel
from pycu2c.runtime.cuda.memory import HOST

_THREADS = 256
_MAX_BLOCKS, _MAX_BLOCKS_ON_CPU = 1024, 64
_MIN_ELEMENTS_PER_THREAD = 64  # on the CPU


@device
def grid_stride_range(n):  # type: ignore[no-untyped-def]
    """Return the range of a grid-stride loop: adjacent threads read adjacent elements (GPU)."""
    return cuda.grid(1), n, cuda.gridsize(1)


@device
def contiguous_range(n):  # type: ignore[no-untyped-def]
    """Return a contiguous range per thread, for sequential access (CPU)."""
    return cuda.grid(1) * n // cuda.gridsize(1), (cuda.grid(1) + 1) * n // cuda.gridsize(1), 1


def reduce_blocks(function, index_range, a, out, start):  # type: ignore[no-untyped-def]
    """Reduce the elements of each block, and ``start`` unless it is None, to an element of out."""
    tile = cuda.shared.array(_THREADS, a.dtype)
    t, n = cuda.threadIdx.x, a.shape[0]
    if cuda.grid(1) < n:
        first, end, step = index_range(n)
        value = a[first]
        for j in range(first + step, end, step):
            value = a.dtype.type(function(value, a[j]))
        tile[t] = value
    cuda.syncthreads()
    count = min(n - cuda.blockIdx.x * _THREADS, _THREADS)
    half = _THREADS // 2
    while half > 0:
        if t < half and t + half < count:
            tile[t] = function(tile[t], tile[t + half])
        cuda.syncthreads()
        half //= 2
    if t == 0:
        value = tile[0]
        out[cuda.blockIdx.x] = value if start is None else function(value, start)


def _blocks(array: DeviceArray) -> int:
    """Return the number of blocks: enough to fill a GPU, but few on the CPU."""
    if array.device == HOST:
        return max(1, min(array.size // (_THREADS * _MIN_ELEMENTS_PER_THREAD), _MAX_BLOCKS_ON_CPU))
    return min(-(-array.size // _THREADS), _MAX_BLOCKS)


@functools.cache
def _kernel(backend: Any) -> Kernel[Any]:
    return make_kernel(Kernel, python_function(reduce_blocks), {"backend": backend})


class Reduce:
    """A reduction of arrays: ``total = cuda.reduce(lambda a, b: a + b)``, then ``total(array)``.

    Parameters
    ----------
    functor : callable
        A function of two values, which is associative and commutative.
    backend : str, optional
        The back end of the kernels; by default that of ``kernel``.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda
    >>> total = cuda.reduce(lambda a, b: a + b)
    >>> float(total(np.arange(1000.0)))
    499500.0
    """

    def __init__(self, functor: Callable[..., Any], backend: Backend | None = None) -> None:
        self._function: DeviceFunction[..., Any] = DeviceFunction(python_function(functor))
        self._backend = backend_of("cuda") if backend is None else backend

    def __call__(
        self,
        arr: Any,
        size: int | None = None,
        res: Any = None,
        init: Any = 0,
        stream: object = 0,
    ) -> Any:
        """Reduce an array with one axis.

        Returns
        -------
        scalar or None
            The reduced value.

        Raises
        ------
        TypeError
            If the array has more than one axis.
        ValueError
            If the array is empty and ``init`` is None.
        """
        arr = as_input(arr)
        if arr.ndim != 1:
            raise TypeError(f"reduce takes an array with one axis, not {arr.ndim}")
        dtype = np.dtype(arr.dtype)
        start = None if init is None else dtype.type(init)
        array = to_device_array(
            arr if size is None else arr[:size], ordinal_for(self._backend), stream
        )
        if not array.size:
            return self._reduce_empty(start, res, stream)
        blocks = _blocks(array)
        partials = empty_result((blocks,), dtype, array.device, stream)
        kernel = _kernel(self._backend)
        index_range = (
            contiguous_range
            if array.device == HOST and blocks * _THREADS <= array.size
            else grid_stride_range
        )
        block_start = start if blocks == 1 else None
        kernel[blocks, _THREADS, stream](self._function, index_range, array, partials, block_start)
        if blocks > 1:
            total = empty_result((1,), dtype, array.device, stream)
            kernel[1, _THREADS, stream](self._function, grid_stride_range, partials, total, start)
            partials = total
        if res is None:
            return partials.getitem(0, stream)
        if isinstance(res, np.ndarray):
            res[:1] = partials.copy_to_host(stream=stream)
        else:
            as_device_array(res).setitem(slice(1), partials, stream)
        return None

    def _reduce_empty(self, start: Any, res: Any, stream: object) -> Any:
        if start is None:
            raise ValueError("cannot reduce an empty array without an initial value: pass init")
        if res is None:
            return start
        target = res if isinstance(res, np.ndarray) else as_device_array(res)
        target[:1] = start
        return None


reduce = Reduce


document_parameters(
    globals(),
    """
arr : array | The array, of one axis; any dtype of the operation.
size : int | The number of elements to reduce; by default all.
res : array | A device array whose first element receives the result.
init : number | The initial value.
stream : Stream or int | The stream.
""",
)

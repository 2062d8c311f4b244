"""``cuda.reduce``: the elements of an array brought together by a function of two."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.compat.numba.array_placement import Backend, backend_of, ordinal_for, placed, room
from pycu2c.compat.numba.dispatcher import python_of
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.interoperability import as_device_array
from pycu2c.kernels.kernel import Device, Kernel, device
from pycu2c.runtime.cuda.memory import HOST

_THREADS = 256
_MOST_BLOCKS, _MOST_ON_HOST = 1024, 64
_FEW = 64  # elements for a thread


@device
def in_steps(n):  # type: ignore[no-untyped-def]
    """Threads that are neighbours read elements that are neighbours, as a GPU likes it."""
    return cuda.grid(1), n, cuda.gridsize(1)


@device
def in_pieces(n):  # type: ignore[no-untyped-def]
    """Each thread reads elements that are neighbours, as a CPU likes it."""
    return cuda.grid(1) * n // cuda.gridsize(1), (cuda.grid(1) + 1) * n // cuda.gridsize(1), 1


def bring_together(function, walk, a, out, start):  # type: ignore[no-untyped-def]
    """Each block leaves one element of ``out``; ``start`` joins in, if it is not None."""
    tile = cuda.shared.array(_THREADS, a.dtype)
    t, n = cuda.threadIdx.x, a.shape[0]
    if cuda.grid(1) < n:
        first, end, step = walk(n)
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
    """As many as keep a GPU busy; on the host few, since a block takes time of its own."""
    if array.device == HOST:
        return max(1, min(array.size // (_THREADS * _FEW), _MOST_ON_HOST))
    return min(-(-array.size // _THREADS), _MOST_BLOCKS)


@functools.cache
def _kernel(backend: Any) -> Kernel[Any]:
    return Kernel(python_of(bring_together), backend=backend)


class Reduce:
    """Brings the elements of an array together: ``total = cuda.reduce(lambda a, b: a + b)``, then
    ``total(array)``. The function is associative, and does not mind the order."""

    def __init__(self, functor: Callable[..., Any], backend: Backend | None = None) -> None:
        self._function: Device[..., Any] = Device(python_of(functor))
        self._backend = backend_of("cuda") if backend is None else backend

    def __call__(
        self,
        arr: Any,
        size: int | None = None,
        res: Any = None,
        init: Any = 0,
        stream: object = 0,
    ) -> Any:
        """The elements of an array with one axis, or the first ``size``, and ``init``, brought
        together. ``res``: a device array whose first element takes the result, which nobody waits
        for then."""
        if arr.ndim != 1:
            raise TypeError(f"an array with one axis is reduced, and this has {arr.ndim}")
        dtype = np.dtype(arr.dtype)
        start = None if init is None else dtype.type(init)
        array = placed(arr if size is None else arr[:size], ordinal_for(self._backend), stream)
        if not array.size:
            return self._of_nothing(start, res, stream)
        blocks = _blocks(array)
        parts = room((blocks,), dtype, array.device, stream)
        kernel = _kernel(self._backend)
        walk = in_pieces if array.device == HOST and blocks * _THREADS <= array.size else in_steps
        first = start if blocks == 1 else None
        kernel[blocks, _THREADS, stream](self._function, walk, array, parts, first)
        if blocks > 1:
            whole = room((1,), dtype, array.device, stream)
            kernel[1, _THREADS, stream](self._function, in_steps, parts, whole, start)
            parts = whole
        if res is None:
            return parts.getitem(0, stream)
        if isinstance(res, np.ndarray):
            res[:1] = parts.copy_to_host(stream=stream)
        else:
            as_device_array(res).setitem(slice(1), parts, stream)
        return None

    def _of_nothing(self, start: Any, res: Any, stream: object) -> Any:
        if start is None:
            raise ValueError("an empty array has nothing to bring together")
        if res is None:
            return start
        target = res if isinstance(res, np.ndarray) else as_device_array(res)
        target[:1] = start
        return None


reduce = Reduce

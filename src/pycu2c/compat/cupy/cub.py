"""The reductions of ``cupyx.jit.cub``: ``WarpReduce[T]`` and ``BlockReduce[T, threads]``.

``rawkernel`` replaces ``BlockReduce[T, threads](storage).Sum(x)`` by ``BlockReduce.Sum(x)``. The
type and the number of threads have no effect. Values of float16 are combined in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.kernels.kernel import device


@device
def Sum(a: Any, b: Any) -> Any:
    """Return the sum of two values."""
    return a + b


@device
def Max(a: Any, b: Any) -> Any:
    """Return the greater of two values."""
    return np.maximum(a, b)


@device
def Min(a: Any, b: Any) -> Any:
    """Return the lesser of two values."""
    return np.minimum(a, b)


@device
def _reduce_warp(value: Any, reduction_op: Any) -> Any:
    """Combine the values of the lanes of a warp; the result of lane 0 is valid."""
    result = np.float32(value) if value.dtype == np.float16 else value
    for offset in (16, 8, 4, 2, 1):
        result = reduction_op(result, cuda.shfl_down_sync(0xFFFFFFFF, result, offset))
    return value.dtype.type(result)


@device
def _reduce_block(value: Any, reduction_op: Any) -> Any:
    """Combine the values of the threads of a block, in shared memory."""
    widened = np.float32(value) if value.dtype == np.float16 else value
    partial = cuda.shared.array(1024, widened.dtype)
    block, t = cuda.blockDim, cuda.threadIdx
    thread = t.x + block.x * (t.y + block.y * t.z)
    count = block.x * block.y * block.z
    partial[thread] = widened
    cuda.syncthreads()
    while count > 1:
        half = (count + 1) // 2
        if thread + half < count:
            partial[thread] = reduction_op(partial[thread], partial[thread + half])
        cuda.syncthreads()
        count = half
    result = partial[0]
    cuda.syncthreads()
    return value.dtype.type(result)


@device
def _sum_warp(value: Any) -> Any:
    return _reduce_warp(value, Sum)


@device
def _sum_block(value: Any) -> Any:
    return _reduce_block(value, Sum)


class WarpReduce:
    """A reduction of the values of a warp."""

    TempStorage = np.uint8
    Reduce, Sum = _reduce_warp, _sum_warp


class BlockReduce:
    """A reduction of the values of a block."""

    TempStorage = np.uint8
    Reduce, Sum = _reduce_block, _sum_block

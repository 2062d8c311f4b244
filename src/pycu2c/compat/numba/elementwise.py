"""Define the kernels that apply the device functions of ``vectorize`` and ``guvectorize``."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from pycu2c import cuda
from pycu2c.compat.numba.array_placement import Backend
from pycu2c.devices import view_geometry
from pycu2c.devices.array import DeviceArray
from pycu2c.kernels.kernel import DeviceFunction, Kernel, make_kernel
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.cuda.memory import HOST

THREADS = 256
_MAX_BLOCKS = 65535  # of a grid along y and z


def map_1d(function, out, *inputs):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = function(*[a[i] for a in inputs])


def map_1d_by_four(function, out, *inputs):  # type: ignore[no-untyped-def]
    """Map four elements per thread: all loads come first, for memory-level parallelism."""
    begin, step = cuda.blockIdx.x * (4 * cuda.blockDim.x) + cuda.threadIdx.x, cuda.blockDim.x
    if begin + 3 * step < out.shape[0]:
        first = [a[begin] for a in inputs]
        second = [a[begin + step] for a in inputs]
        third = [a[begin + 2 * step] for a in inputs]
        last = [a[begin + 3 * step] for a in inputs]
        out[begin] = function(*first)
        out[begin + step] = function(*second)
        out[begin + 2 * step] = function(*third)
        out[begin + 3 * step] = function(*last)
    else:
        for i in range(begin, out.shape[0], step):
            out[i] = function(*[a[i] for a in inputs])


def map_3d(function, out, *inputs):  # type: ignore[no-untyped-def]
    x, y, z = cuda.grid(3)
    if x < out.shape[2]:
        for i in range(z, out.shape[0], cuda.gridsize(3)[2]):
            for j in range(y, out.shape[1], cuda.gridsize(3)[1]):
                out[i, j, x] = function(*[a[i, j, x] for a in inputs])


def for_each_core_array(function, count, *arrays):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < count:
        function(*[a[i] for a in arrays])


@functools.cache
def _kernel(python_function: Any, backend: Any) -> Kernel[Any]:
    return make_kernel(Kernel, python_function, {"backend": backend, "signature": []})


def map_elements(
    function: DeviceFunction[Any, Any],
    out: DeviceArray,
    inputs: Sequence[DeviceArray],
    backend: Backend,
    stream: object,
) -> None:
    """Compute ``out[...] = function(*inputs)`` for arrays of one shape."""
    if not out.size:
        return
    axes = view_geometry.merged_axes(out.shape, *(a.strides for a in (out, *inputs)))
    inner, outer = axes[-3:], axes[:-3]
    if len(inner) > 1:
        shape = (1,) * (3 - len(inner)) + tuple(extent for extent, _ in inner)
        launch = _kernel(map_3d, backend)[_grid(shape), _block(shape), stream]
    else:
        shape = tuple(extent for extent, _ in inner) or (1,)
        kernel_function, elements_per_thread = (
            (map_1d, 1) if out.device == HOST else (map_1d_by_four, 4)
        )
        launch = _kernel(kernel_function, backend)[
            -(-shape[0] // (THREADS * elements_per_thread)), THREADS, stream
        ]
    for index in itertools.product(*(range(extent) for extent, _ in outer)):
        axis_offsets = zip(*([i * s for s in strides] for i, (_, strides) in zip(index, outer)))
        offsets = list(map(sum, axis_offsets)) or [0] * (1 + len(inputs))
        subarrays = [
            _subarray(a, offsets[k], shape, [strides[k] for _, strides in inner])
            for k, a in enumerate((out, *inputs))
        ]
        launch(function, *subarrays)


def _subarray(
    array: DeviceArray, offset: int, shape: Shape, inner_strides: list[int]
) -> DeviceArray:
    """Return the view at an offset in bytes; ``inner_strides`` omits leading axes of length 1."""
    strides = (array.itemsize,) * (len(shape) - len(inner_strides)) + tuple(inner_strides)
    address = array.address + offset
    return DeviceArray(
        array._memory, address, shape, strides, array.dtype, array.writeable, array.stream
    )


def _block(shape: Shape) -> Shape:
    """Return a block of ``THREADS`` threads: along x as the last axis requires, others along y."""
    x = min(THREADS, max(32, 1 << (shape[2] - 1).bit_length()))
    return x, THREADS // x, 1


def _grid(shape: Shape) -> Shape:
    x, y, _ = _block(shape)
    return -(-shape[2] // x), min(-(-shape[1] // y), _MAX_BLOCKS), min(shape[0], _MAX_BLOCKS)


def call_per_core_array(
    function: DeviceFunction[Any, Any],
    count: int,
    arrays: Sequence[DeviceArray],
    backend: Backend,
    stream: object,
) -> None:
    """Call ``function`` once per index of the first axis, with the subarrays at this index."""
    if count:
        launch = _kernel(for_each_core_array, backend)[-(-count // THREADS), THREADS, stream]
        launch(function, count, *arrays)

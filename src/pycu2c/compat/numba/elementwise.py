"""Define the kernels that apply the device functions of ``vectorize`` and ``guvectorize``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pycu2c import cuda
from pycu2c.compat.numba.array_placement import Backend
from pycu2c.devices import strided_boxes, view_geometry
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.strided_boxes import THREADS
from pycu2c.devices.view_geometry import MergedAxis, ViewGeometry
from pycu2c.kernels.kernel import DeviceFunction, Kernel, make_kernel
from pycu2c.runtime.cuda.memory import HOST


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
    arrays = (out, *inputs)
    axes = view_geometry.merged_axes(out.shape, *(a.strides for a in arrays))
    if len(axes) > 1:
        for box in strided_boxes.boxes(axes, arrays):
            configuration = strided_boxes.configuration(box[0].shape)
            _kernel(map_3d, backend)[(*configuration, stream)](function, *box)
        return
    extent, strides = axes[0] if axes else MergedAxis(1, tuple(a.itemsize for a in arrays))
    kernel_function, elements_per_thread = (
        (map_1d, 1) if out.device == HOST else (map_1d_by_four, 4)
    )
    blocks = -(-extent // (THREADS * elements_per_thread))
    _kernel(kernel_function, backend)[blocks, THREADS, stream](
        function, *(a._view(ViewGeometry(0, (extent,), (s,))) for a, s in zip(arrays, strides))
    )


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

"""What notebooks show of arrays, streams, events and devices, in place of ``repr()``.

The classes import this module when a notebook first shows one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.base import graph_capture
from pycu2c.base.errors import Error
from pycu2c.base.output.html_tables import Markup, bar, grid, properties
from pycu2c.devices import copies, view_geometry
from pycu2c.devices.array_data import ArrayData
from pycu2c.devices.cpu_device import Cpu
from pycu2c.devices.gpu_device import Gpu
from pycu2c.devices.streams import Event, Stream
from pycu2c.runtime.cuda.memory import HOST

_END = 3  # elements that are shown of each end of an axis
_GAP = "…"
_GIB = 1 << 30


# ---- arrays ------------------------------------------------------------------------------------


def array_view(array: ArrayData) -> str:
    """Return the properties of an array, and its values; of a large array, those at its corners.

    Of an array with more than two axes, the first matrix is shown. Copies these values to the host.
    """
    table = {
        "shape": array.shape,
        "dtype": array.dtype,
        "device": "host" if array.device == HOST else f"GPU {array.device}",
        "layout": _layout(array),
        "bytes": f"{array.nbytes:,}",
    }
    index = ", ".join(["0"] * (array.ndim - 2) + ["…"])
    name = "values" if array.ndim <= 2 else f"values of [{index}]"
    if graph_capture.current() is not None:
        table[name] = "not copied during graph capture"
    elif array.size:
        table[name] = grid(_corner_values(array))
    return properties("DeviceArray", table)


def _layout(array: ArrayData) -> str:
    if array.is_c_contiguous():
        return "C-contiguous"
    return "F-contiguous" if array.is_f_contiguous() else f"strides of {array.strides} bytes"


def _corner_values(array: ArrayData) -> list[list[object]]:
    matrix = _part(array, (0,) * (array.ndim - 2) + (Ellipsis,))
    rows, columns = matrix.shape if matrix.ndim == 2 else (1, array.size)
    keys = [_ends(length) for length in matrix.shape]
    values = _copied(matrix, keys).reshape(min(rows, 2 * _END), min(columns, 2 * _END))
    shown: list[list[object]] = [_with_gap(list(row), columns) for row in values]
    return _with_gap(shown, rows, [_GAP] * len(shown[0]))


def _copied(array: ArrayData, keys: list[list[slice]]) -> NDArray[Any]:
    """Copy the parts of an array that the keys of each axis select, side by side."""
    if not keys:
        return _to_host(array)
    if len(keys) == 1:
        return np.concatenate([_to_host(_part(array, key)) for key in keys[0]])
    rows = [[_to_host(_part(array, (row, column))) for column in keys[1]] for row in keys[0]]
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


def _part(array: ArrayData, key: Any) -> ArrayData:
    return array._view(view_geometry.indexed(array.shape, array.strides, key))


def _to_host(array: ArrayData) -> NDArray[Any]:
    return copies.to_host(array, None, array.stream)


def _ends(length: int) -> list[slice]:
    return [slice(None)] if length <= 2 * _END else [slice(_END), slice(-_END, None)]


def _with_gap(values: list[Any], length: int, gap: object = _GAP) -> list[Any]:
    return values if length <= 2 * _END else [*values[:_END], gap, *values[_END:]]


# ---- streams and devices -----------------------------------------------------------------------


def stream_view(stream: Stream) -> str:
    device = "current GPU, or the CPU" if stream.device is None else f"GPU {stream.device}"
    kind = "blocking" if stream.blocking else "non-blocking"
    table = {"handle": hex(stream.handle), "device": device, "kind": kind}
    return properties("Stream", table | {"work": _state(stream.done)})


def event_view(event: Event) -> str:
    seconds = event._seconds  # when the host recorded it, 0 for never
    table = {"timing": event.timing, "state": _state(event.query) if seconds else "not recorded"}
    if seconds:
        table["recorded"] = f"{1e3 * (time.perf_counter() - seconds):,.1f} ms ago"
    return properties("Event", table)


def _state(query: Callable[[], bool]) -> str:
    if graph_capture.current() is not None:
        return "graph capture"
    try:
        return "completed" if query() else "pending"
    except Error as error:  # of an earlier kernel
        return str(error)


def device_view(device: Gpu | Cpu) -> str:
    free, total = device.memory
    used = total - free
    table = {
        "name": device.name,
        "compute capability": ".".join(map(str, device.compute_capability)),
        "multiprocessors": device.MULTIPROCESSOR_COUNT,
        "memory": Markup(bar(used, total, f"{used / _GIB:.1f} of {total / _GIB:.1f} GiB used")),
    }
    return properties(f"{type(device).__name__} {device.id}", table)

"""Launch kernels of the library finance with ctypes and NumPy: LIBRARY INPUT OUTPUT [cpu|cuda]."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Dim3(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint32) for axis in "xyz"]


class Gpu:
    """Memory of the first GPU, by the driver."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._driver, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} returns {code}")

    def copy_from(self, array: np.ndarray[Any, Any]) -> int:
        """Return the address of a copy of the memory of an array."""
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
        size, data = ctypes.c_size_t(array.nbytes), array.ctypes.data_as(ctypes.c_void_p)
        self._call("cuMemcpyHtoD_v2", address, data, size)
        return address.value

    def copy_to(self, array: np.ndarray[Any, Any], address: int) -> None:
        size, data = ctypes.c_size_t(array.nbytes), array.ctypes.data_as(ctypes.c_void_p)
        self._call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), size)


def tensor(array: np.ndarray[Any, Any], gpu: Gpu | None = None) -> Tensor:
    """Describe an array, on a GPU a copy of the contiguous array that it is a view of."""
    axes, size = ctypes.c_int64 * array.ndim, array.itemsize
    code = {"i": 0, "u": 1, "f": 2, "c": 5}[array.dtype.kind]
    whole = array if array.base is None else array.base
    return Tensor(
        gpu.copy_from(whole) if gpu else array.ctypes.data,
        (2 if gpu else 1, 0),
        array.ndim,
        code,
        8 * size,
        1,
        axes(*array.shape),
        axes(*(stride // size for stride in array.strides)),
        0,
    )


def main(path: str, source: str, result: str, device: str = "cpu") -> None:
    gpu = Gpu() if device == "cuda" else None
    library = ctypes.CDLL(path)
    library.finance_last_error.restype = ctypes.c_char_p
    number = ctypes.c_double

    def launch(name: str, *arguments: Any, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
        arrays = [(a, tensor(a, gpu)) for a in arguments if isinstance(a, np.ndarray)]
        tensors = (ctypes.byref(described) for _, described in arrays)
        passed = [next(tensors) if isinstance(a, np.ndarray) else a for a in arguments]
        configuration = Dim3(*grid), Dim3(*block), ctypes.c_size_t(0), None
        if getattr(library, name)(*passed, *configuration):
            raise RuntimeError(library.finance_last_error().decode())
        if gpu:
            for array, described in arrays:
                gpu.copy_to(array if array.base is None else array.base, described.data)

    x = np.fromfile(source)
    image = x[: 70 * 71].astype(np.float32).reshape(70, 71)
    smooth, sums, prices = np.zeros_like(image), np.zeros(20), np.zeros(5000)
    launch("finance_stencil_launch", image, smooth, number(0.2), grid=(5, 9, 1), block=(16, 8, 1))
    first = ctypes.c_int64(7)
    launch("finance_block_sums_launch", x[::2], sums, first, grid=(20, 1, 1), block=(128, 1, 1))
    numbers = number(0.02), number(0.3), prices, ctypes.c_bool(True)
    launch("finance_black_scholes_launch", x, x, x, *numbers, grid=(20, 1, 1), block=(256, 1, 1))
    Path(result).write_bytes(smooth.tobytes() + sums.tobytes() + prices.tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])

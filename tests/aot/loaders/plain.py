"""Launch the kernels of the library finance with ctypes and NumPy: LIBRARY INPUT OUTPUT."""

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


def tensor(array: np.ndarray[Any, Any]) -> Tensor:
    axes, size = ctypes.c_int64 * array.ndim, array.itemsize
    code = {"i": 0, "u": 1, "f": 2, "c": 5}[array.dtype.kind]
    return Tensor(
        array.ctypes.data,
        (1, 0),
        array.ndim,
        code,
        8 * size,
        1,
        axes(*array.shape),
        axes(*(stride // size for stride in array.strides)),
        0,
    )


def main(path: str, source: str, result: str) -> None:
    library = ctypes.CDLL(path)
    library.finance_last_error.restype = ctypes.c_char_p
    number = ctypes.c_double

    def launch(name: str, *arguments: Any, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
        passed = [ctypes.byref(tensor(a)) if isinstance(a, np.ndarray) else a for a in arguments]
        configuration = Dim3(*grid), Dim3(*block), ctypes.c_size_t(0), None
        if getattr(library, name)(*passed, *configuration):
            raise RuntimeError(library.finance_last_error().decode())

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

"""Launch the kernels of the Python package finance: INPUT OUTPUT [cpu|cuda]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import finance  # type: ignore[import-not-found]
import numpy as np


def main(source: str, result: str, device: str = "cpu") -> None:
    on_device: Callable[[Any], Any] = np.asarray
    if device == "cuda":
        from pycu2c import cuda

        on_device = cuda.to_device
    x = np.fromfile(source)
    image = x[: 70 * 71].astype(np.float32).reshape(70, 71)
    arrays: list[Any] = [np.zeros_like(image), np.zeros(20), np.zeros(5000), x, image]
    smooth, sums, prices, values, picture = map(on_device, arrays)
    finance.stencil(picture, smooth, 0.2, grid=(5, 9), block=(16, 8))
    finance.block_sums(values[::2], sums, 7, grid=20, block=128)
    finance.black_scholes(values, values, values, 0.02, 0.3, prices, True, grid=20, block=256)
    results = [smooth, sums, prices]
    if device == "cuda":
        results = [array.copy_to_host() for array in results]
    Path(result).write_bytes(b"".join(array.tobytes() for array in results))
    try:
        finance.stencil(picture, on_device(image.astype(np.float64)), 0.2, grid=1, block=1)
    except finance.LaunchError as error:
        if "out is float64" not in str(error):
            raise
    else:
        raise AssertionError("float64 is accepted")


if __name__ == "__main__":
    main(*sys.argv[1:])

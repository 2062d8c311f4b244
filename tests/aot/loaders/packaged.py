"""Launch the kernels of the Python package finance: INPUT OUTPUT."""

from __future__ import annotations

import sys
from pathlib import Path

import finance  # type: ignore[import-not-found]
import numpy as np


def main(source: str, result: str) -> None:
    x = np.fromfile(source)
    image = x[: 70 * 71].astype(np.float32).reshape(70, 71)
    smooth, sums, prices = np.zeros_like(image), np.zeros(20), np.zeros(5000)
    finance.stencil(image, smooth, 0.2, grid=(5, 9), block=(16, 8))
    finance.block_sums(x[::2], sums, 7, grid=20, block=128)
    finance.black_scholes(x, x, x, 0.02, 0.3, prices, True, grid=20, block=256)
    Path(result).write_bytes(smooth.tobytes() + sums.tobytes() + prices.tobytes())
    try:
        finance.stencil(image, smooth.astype(np.float64), 0.2, grid=1, block=1)
    except finance.LaunchError as error:
        if "out is float64" not in str(error):
            raise
    else:
        raise AssertionError("float64 is accepted")


if __name__ == "__main__":
    main(*sys.argv[1:])

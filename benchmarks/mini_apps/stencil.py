"""The Laplacian of a function on a grid, by a stencil of seven points."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mini_apps import Case
from pycu2c import cuda, kernel

FLAGS = ("-O3",)


@kernel
def laplacian(f: Any, u: Any, per_hx2: Any, per_hy2: Any, per_hz2: Any, per_hxyz2: Any) -> None:
    i, j, k = cuda.grid(3)
    nz, ny, nx = u.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1 and 0 < k < nz - 1:
        f[k, j, i] = (
            u[k, j, i] * per_hxyz2
            + (u[k, j, i - 1] + u[k, j, i + 1]) * per_hx2
            + (u[k, j - 1, i] + u[k, j + 1, i]) * per_hy2
            + (u[k - 1, j, i] + u[k + 1, j, i]) * per_hz2
        )


def cases(sources: Path | None, small: bool) -> list[Case]:
    if small:
        return [case(12, np.float32), case(12, np.float64)]
    return [case(512, np.float32), case(512, np.float64), case(1024, np.float32)]


def case(n: int, dtype: Any) -> Case:
    """Return the case of a cube of ``n`` points along each axis."""
    u = np.random.default_rng(1).random((n, n, n), dtype)
    h = dtype(1 / (n - 1))
    per_h2 = dtype(1) / h / h
    threads = min(n, 1024)
    return Case(
        f"stencil {n}³ {u.dtype}",
        laplacian,
        (np.zeros_like(u), u),
        (per_h2, per_h2, per_h2, -6 * per_h2),
        (-(-n // threads), n, n),
        (threads,),
        f"laplacian_{u.dtype}",
        (n, threads, h),
        (0,),
        partial(expected, u, float(per_h2)),
        1e-6 if dtype is np.float32 else 1e-14,
    )


def expected(u: np.ndarray, per_h2: float) -> list[np.ndarray]:
    u = u.astype(np.float64)
    f = np.zeros_like(u)
    inner = slice(1, -1)
    f[inner, inner, inner] = -6 * u[inner, inner, inner]
    for axis in range(3):
        for neighbour in slice(None, -2), slice(2, None):
            at = [inner] * 3
            at[axis] = neighbour
            f[inner, inner, inner] += u[tuple(at)]
    return [f * per_h2]

"""The launch methods that benchmarks/launch.py compares, and the kernels that they launch."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda

COUNTS = (3, 5, 12)  # of arguments
THREADS = 32


class LaunchMethod:
    """A launch, as a Python statement or as a function from a number of launches to seconds.

    ``result`` reads the array that the kernel has written.
    """

    def __init__(
        self,
        name: str,
        count: int,
        launch: str | Callable[[int], float],
        names: dict[str, Any],
        result: Callable[[], Any],
        wait: Callable[[], object] = lambda: None,
    ) -> None:
        self.name, self.count, self.wait, self._result = name, count, wait, result
        self.seconds: Callable[[int], float] = (
            timeit.Timer(launch, globals=names).timeit if isinstance(launch, str) else launch
        )

    def check(self) -> None:
        self.wait()
        result = np.asarray(self._result())
        if not np.allclose(result, expected(self.count)):
            raise SystemExit(f"{self.name}, {self.count} arguments: wrong results {result[:4]}")


def three(out, x, a):
    i = cuda.grid(1)
    out[i] = a * x[i]


def five(out, x, y, a, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a * x[i] + y[i]


def twelve(out, p, q, r, s, t, u, a, b, c, n, m):
    i = cuda.grid(1)
    if i < n:
        out[i] = a * (p[i] + q[i]) + b * (r[i] + s[i]) + c * (t[i] + u[i]) + m


PYTHON = {3: three, 5: five, 12: twelve}

C = {
    3: ("three", "float *out, const float *x, float a", "out[i] = a * x[i];"),
    5: (
        "five",
        "float *out, const float *x, const float *y, float a, int n",
        "if (i < n) out[i] = a * x[i] + y[i];",
    ),
    12: (
        "twelve",
        "float *out, const float *p, const float *q, const float *r, const float *s, "
        "const float *t, const float *u, float a, float b, float c, int n, int m",
        "if (i < n) out[i] = a * (p[i] + q[i]) + b * (r[i] + s[i]) + c * (t[i] + u[i]) + m;",
    ),
}

_ARRAYS = {3: 2, 5: 3, 12: 7}
NUMBERS: dict[int, tuple[Any, ...]] = {
    3: (np.float32(2.5),),
    5: (np.float32(2.5), np.int32(THREADS)),
    12: (np.float32(2.5), np.float32(0.5), np.float32(1.5), np.int32(THREADS), np.int32(7)),
}


def arrays(count: int) -> list[np.ndarray]:
    """Return the output, filled with zeros, and the inputs."""
    read = [np.arange(THREADS, dtype=np.float32) + k for k in range(1, _ARRAYS[count])]
    return [np.zeros(THREADS, np.float32), *read]


def expected(count: int) -> np.ndarray:
    _, *read = arrays(count)
    a, *rest = NUMBERS[count]
    if count == 3:
        return a * read[0]
    if count == 5:
        return a * read[0] + read[1]
    p, q, r, s, t, u = read
    b, c, _, m = rest
    return a * (p + q) + b * (r + s) + c * (t + u) + m


def named(arguments: list[Any] | tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    """Return names for arguments as the text of a call, and their values by name."""
    values = {f"a{i}": argument for i, argument in enumerate(arguments)}
    return ", ".join(values), values

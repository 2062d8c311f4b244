"""``cmath`` and numpy of complex numbers, against numpy's in double precision."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c.kernel import Kernel

NUMBERS = [0.3 + 0.7j, -2.5 + 0.1j, 1 - 3j, -0.0 + 2j, 30 + 1j, 1 - 30j, 0.5j, 4 + 0j]


def functions(z, out):
    i = cuda.grid(1)
    out[0, i] = cmath.tan(z[i])
    out[1, i] = np.tanh(z[i])
    out[2, i] = cmath.sinh(z[i])
    out[3, i] = np.cosh(z[i])
    out[4, i] = cmath.log10(z[i])
    size, angle = cmath.polar(z[i])
    out[5, i] = cmath.rect(size, angle)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 2e-5), (np.complex128, 1e-13)])
def test_functions(dtype: Any, tolerance: float, target: str) -> None:
    z = np.array(NUMBERS, dtype)
    out = np.zeros((6, len(z)), dtype)
    Kernel(functions, backend=target)[1, len(z)](z, out)  # type: ignore[arg-type]
    exact = z.astype(np.complex128)
    wanted = [f(exact) for f in (np.tan, np.tanh, np.sinh, np.cosh, np.log10, np.positive)]
    np.testing.assert_allclose(out, wanted, rtol=tolerance)


def kinds(z, x, out):
    i = cuda.grid(1)
    out[i, 0] = cmath.isnan(z[i]) + 2 * cmath.isinf(z[i]) + 4 * cmath.isfinite(z[i])
    out[i, 1] = np.isnan(z[i]) + 2 * np.isinf(z[i]) + 4 * np.isfinite(z[i])
    out[i, 2] = cmath.isnan(x[i]) + 2 * cmath.isinf(x[i]) + 4 * cmath.isfinite(x[i])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_what_is_finite(dtype: Any, target: str) -> None:
    inf, nan = np.inf, np.nan
    z = np.array([1 + 2j, complex(nan, 1), complex(1, -inf), complex(inf, nan)], dtype)
    out = np.zeros((4, 3), np.int32)
    Kernel(kinds, backend=target)[1, 4](z, z.imag.copy(), out)  # type: ignore[arg-type]
    assert out.tolist() == [[4, 4, 4], [1, 1, 4], [2, 2, 2], [3, 3, 1]]

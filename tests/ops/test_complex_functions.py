"""``cmath`` and numpy of complex numbers, against numpy's in double precision."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, kernel
from pycu2c.kernels.kernel import Kernel
from support.complex_values import FUNCTIONS, differences, special_values

NUMBERS = [0.3 + 0.7j, -2.5 + 0.1j, 1 - 3j, -0.0 + 2j, 30 + 1j, 1 - 30j, 0.5j, 4 + 0j]


def functions(z, out):
    i = cuda.grid(1)
    out[0, i] = cmath.tan(z[i])
    out[1, i] = np.tanh(z[i])
    out[2, i] = cmath.sinh(z[i])
    out[3, i] = np.cosh(z[i])
    out[4, i] = cmath.log10(z[i])
    out[6, i] = np.log2(z[i])
    size, angle = cmath.polar(z[i])
    out[5, i] = cmath.rect(size, angle)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 2e-5), (np.complex128, 1e-13)])
def test_functions(dtype: Any, tolerance: float, target: str) -> None:
    z = np.array(NUMBERS, dtype)
    out = np.zeros((7, len(z)), dtype)
    Kernel(functions, backend=target)[1, len(z)](z, out)  # type: ignore[arg-type]
    exact = z.astype(np.complex128)
    computed = (np.tan, np.tanh, np.sinh, np.cosh, np.log10, np.positive, np.log2)
    expected = [f(exact) for f in computed]
    np.testing.assert_allclose(out, expected, rtol=tolerance)


def logarithms(z, out):
    out[cuda.grid(1)] = np.log(z[cuda.grid(1)])


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 1e-5), (np.complex128, 1e-14)])
@pytest.mark.parametrize("fmad", [True, False])
def test_logarithms_near_the_unit_circle(
    dtype: Any, tolerance: float, fmad: bool, target: str
) -> None:
    z = np.exp(1j * np.linspace(-3, 3, 500)).astype(dtype)
    out = np.zeros(len(z), dtype)
    kernel(backend=target, fmad=fmad)(logarithms)[4, 125](z, out)
    np.testing.assert_allclose(out.real, np.log(z).real, rtol=tolerance)


ARCS = (np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh)
# on the branch cuts, on either side of them; 0 and large ones
ON_CUTS = [complex(x, y) for x in (-3, 3, 0.5, 0.0, -0.0) for y in (0.0, -0.0)]
ON_CUTS += [complex(x, y) for x in (0.0, -0.0) for y in (-3, 3, 0.25)]
AFAR = [1e-9 + 1e-9j, 1e9 - 1e8j, -1e-9 + 40j, -0.999 + 1e-4j]


def arcs(z, out):
    i = cuda.grid(1)
    out[0, i] = cmath.asin(z[i])
    out[1, i] = np.arccos(z[i])
    out[2, i] = cmath.atan(z[i])
    out[3, i] = cmath.asinh(z[i])
    out[4, i] = np.arccosh(z[i])
    out[5, i] = cmath.atanh(z[i])
    out[6, i] = cmath.log(z[i] * 2 + 9j, 10j)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 2e-6), (np.complex128, 1e-14)])
def test_inverse_functions(dtype: Any, tolerance: float, target: str) -> None:
    z = np.array([*NUMBERS, *ON_CUTS, *AFAR], dtype)
    out = np.zeros((7, len(z)), dtype)
    Kernel(arcs, backend=target)[1, len(z)](z, out)  # type: ignore[arg-type]
    exact = z.astype(np.complex128)
    expected = [*(f(exact) for f in ARCS), np.log(exact * 2 + 9j) / np.log(10j)]
    np.testing.assert_allclose(out, expected, rtol=tolerance)


def all_functions(z, out):
    i = cuda.grid(1)
    out[0, i] = np.exp(z[i])
    out[1, i] = np.log(z[i])
    out[2, i] = np.log10(z[i])
    out[3, i] = np.sqrt(z[i])
    out[4, i] = np.sin(z[i])
    out[5, i] = np.cos(z[i])
    out[6, i] = np.tan(z[i])
    out[7, i] = np.sinh(z[i])
    out[8, i] = np.cosh(z[i])
    out[9, i] = np.tanh(z[i])
    out[10, i] = np.arcsin(z[i])
    out[11, i] = np.arccos(z[i])
    out[12, i] = np.arctan(z[i])
    out[13, i] = np.arcsinh(z[i])
    out[14, i] = np.arccosh(z[i])
    out[15, i] = np.arctanh(z[i])


@pytest.mark.parametrize("fmad", [True, False])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_special_values(dtype: Any, fmad: bool, target: str) -> None:
    z = special_values(dtype)
    out = np.zeros((len(FUNCTIONS), len(z)), dtype)
    kernel(backend=target, fmad=fmad)(all_functions)[1, len(z)](z, out)
    wrong = {name: differences(name, z, result) for name, result in zip(FUNCTIONS, out)}
    assert not {name: found for name, found in wrong.items() if found}


def powers(z, exponents, out):
    i = cuda.grid(1)
    for k in range(len(exponents)):
        out[k, i] = z[i] ** exponents[k]


EXPONENTS = [0, 1, 2, 3, 5, -1, -2, -3, 0.5, -1.5, 2 + 1j, 1j, -1j]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 1e-4), (np.complex128, 1e-11)])
def test_powers(dtype: Any, tolerance: float, target: str) -> None:
    large = 1e25 if dtype is np.complex64 else 1e200  # its square overflows
    finite = [0.0, -0.0, 1.0, -2.0, large, -1 / large]
    z = np.array([complex(x, y) for x in finite for y in (*finite, np.inf, np.nan)], dtype)
    exponents, out = np.array(EXPONENTS, dtype), np.zeros((len(EXPONENTS), len(z)), dtype)
    kernel(backend=target, fmad=False)(powers)[1, len(z)](z, exponents, out)
    with np.errstate(all="ignore"):
        expected = np.array([[base**exponent for base in z] for exponent in exponents])
    is_finite = np.isfinite(expected)
    np.testing.assert_allclose(out[is_finite], expected[is_finite], rtol=tolerance)
    ours, numpys = out[~is_finite], expected[~is_finite]
    np.testing.assert_allclose(ours.real, numpys.real, rtol=tolerance)
    np.testing.assert_allclose(ours.imag, numpys.imag, rtol=tolerance)


def constant_powers(z, n, out):
    i = cuda.grid(1)
    out[0, i] = z[i] ** (2 + 1j)
    out[1, i] = z[i] ** -1
    out[2, i] = z[i] ** -1.5
    out[3, i] = n ** (1 - 2j)
    out[4, i] = complex(n, i) ** -2
    out[5, i] = (2 + 1j) ** n
    out[6, i] = 2 ** (0.5 + 1j)
    out[7, i] = (1 + 2j) ** -1


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 1e-5), (np.complex128, 1e-14)])
def test_powers_with_constants(dtype: Any, tolerance: float, target: str) -> None:
    z, out = np.array(NUMBERS, dtype), np.zeros((8, len(NUMBERS)), dtype)
    Kernel(constant_powers, backend=target)[1, len(z)](z, 3, out)  # type: ignore[arg-type]
    exact = z.astype(np.complex128)
    expected = [exact ** (2 + 1j), exact**-1, exact**-1.5, np.full(len(z), 3 ** (1 - 2j))]
    expected.append(complex(3) + 1j * np.arange(len(z)))
    expected[-1] **= -2
    expected += [np.full(len(z), x) for x in ((2 + 1j) ** 3, 2 ** (0.5 + 1j), (1 + 2j) ** -1)]
    np.testing.assert_allclose(out, expected, rtol=tolerance)


def rectangular(r, phi, out):
    i = cuda.grid(1)
    out[i] = cmath.rect(r[i], phi[i])


def rect_of_python(r: float, phi: float) -> complex:
    """Return NaN where ``cmath.rect`` raises an exception."""
    try:
        return cmath.rect(r, phi)
    except ValueError:
        return complex(np.inf if np.isinf(r) else np.nan, np.nan)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rect_of_special_values(dtype: Any, target: str) -> None:
    values = [0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan]
    r, phi = (a.ravel().astype(dtype) for a in np.meshgrid(values, values))
    out = np.zeros(len(r), np.complex128)
    Kernel(rectangular, backend=target)[1, len(r)](r, phi, out)  # type: ignore[arg-type]
    expected = np.array([rect_of_python(*pair) for pair in zip(r.tolist(), phi.tolist())])
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    is_signed = np.isfinite(phi) & ~np.isnan(r)
    for ours, pythons in ((out.real, expected.real), (out.imag, expected.imag)):
        assert (np.signbit(ours) == np.signbit(pythons))[is_signed].all()


def kinds(z, x, out):
    i = cuda.grid(1)
    out[i, 0] = cmath.isnan(z[i]) + 2 * cmath.isinf(z[i]) + 4 * cmath.isfinite(z[i])
    out[i, 1] = np.isnan(z[i]) + 2 * np.isinf(z[i]) + 4 * np.isfinite(z[i])
    out[i, 2] = cmath.isnan(x[i]) + 2 * cmath.isinf(x[i]) + 4 * cmath.isfinite(x[i])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_finite_values(dtype: Any, target: str) -> None:
    inf, nan = np.inf, np.nan
    z = np.array([1 + 2j, complex(nan, 1), complex(1, -inf), complex(inf, nan)], dtype)
    out = np.zeros((4, 3), np.int32)
    Kernel(kinds, backend=target)[1, 4](z, z.imag.copy(), out)  # type: ignore[arg-type]
    assert out.tolist() == [[4, 4, 4], [1, 1, 4], [2, 2, 2], [3, 3, 1]]


def orders(z, w, truth, out):
    i = cuda.grid(1)
    truth[0, i] = np.less(z[i], w[i])
    truth[1, i] = np.less_equal(z[i], w[i])
    truth[2, i] = np.greater(z[i], w[i])
    truth[3, i] = np.greater_equal(z[i], w[i])
    truth[4, i] = np.greater(1.0, w[i])
    out[0, i] = np.maximum(z[i], w[i])
    out[1, i] = np.minimum(z[i], w[i])
    out[2, i] = np.fmax(z[i], w[i])
    out[3, i] = np.fmin(z[i], w[i])
    out[4, i] = np.maximum(z[i], 1)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_numpy_orders_complex_numbers_by_the_real_parts_first(dtype: Any, target: str) -> None:
    parts = (0.0, -0.0, 1.0, -1.0, np.inf, np.nan)
    numbers = [complex(a, b) for a in parts for b in parts]
    z = np.repeat(np.array(numbers, dtype), len(numbers))
    w = np.tile(np.array(numbers, dtype), len(numbers))
    truth, out = np.zeros((5, len(z)), bool), np.zeros((5, len(z)), dtype)
    Kernel(orders, backend=target)[len(z) // 36, 36](z, w, truth, out)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        compared = [f(z, w) for f in (np.less, np.less_equal, np.greater, np.greater_equal)]
        assert (truth == [*compared, np.greater(1.0, w)]).all()
        chosen = [f(z, w) for f in (np.maximum, np.minimum, np.fmax, np.fmin)]
        expected = np.array([*chosen, np.maximum(z, 1)], dtype)
    np.testing.assert_array_equal(out, expected)
    both_real = np.isnan(expected.real) | (np.signbit(out.real) == np.signbit(expected.real))
    assert both_real.all()


def test_operators_have_no_order_of_complex_numbers() -> None:
    def compare(z, out):
        out[0] = z[0] < z[1]

    arrays = np.zeros(2, complex), np.zeros(1, bool)
    with pytest.raises(CompileError, match="complex numbers have no `<`"):
        Kernel(compare, backend="cpu")[1, 1](*arrays)  # type: ignore[arg-type]

"""The examples of CuPy's page on elementwise and reduction kernels, with the import changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import cupy as cp
from support.cupy_arrays import BACKENDS, on_backend, to_numpy


@pytest.fixture(params=BACKENDS)
def array(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """``cp.array``: an array of a backend."""
    return lambda *arguments, **named: on_backend(str(request.param), np.array(*arguments, **named))


def test_basic_elementwise_kernels(array: Callable[..., Any]) -> None:
    add_kernel = cp.ElementwiseKernel(
        'float32 x, float32 y',  # Input parameters
        'float32 z',             # Output parameter
        'z = x + y * 2',         # Operation
        'custom_add'             # Kernel name
    )  # fmt: skip
    a = array([1, 2, 3, 4], dtype=np.float32)
    b = array([5, 6, 7, 8], dtype=np.float32)
    assert to_numpy(add_kernel(a, b)).tolist() == [11, 14, 17, 20]

    complex_kernel = cp.ElementwiseKernel(
        'float32 x, float32 y, float32 alpha',
        'float32 z',
        '''
        float temp = x * alpha + y;
        z = temp > 0 ? temp : 0;  // ReLU activation
        ''',
        'relu_transform'
    )  # fmt: skip
    assert to_numpy(complex_kernel(a, b, 0.5)).tolist() == [5.5, 7, 8.5, 10]
    assert to_numpy(complex_kernel(a, b, -4)).tolist() == [1, 0, 0, 0]


def test_custom_reduction_kernels(array: Callable[..., Any]) -> None:
    sum_of_squares = cp.ReductionKernel(
        'float32 x',       # Input parameter
        'float32 out',     # Output parameter
        'x * x',           # Map expression (square each element)
        'a + b',           # Reduce expression (sum)
        '0',               # Identity value
        'sum_of_squares'   # Kernel name
    )  # fmt: skip
    data = array([1, 2, 3, 4, 5], dtype=np.float32)
    assert to_numpy(sum_of_squares(data)) == 55
    assert to_numpy(sum_of_squares(data.reshape(1, -1), axis=1)).tolist() == [55]

    weighted_mean = cp.ReductionKernel(
        'float32 x, float32 w',
        'float32 out',
        'x * w',           # Multiply value by weight
        'a + b',           # Sum weighted values
        '0',
        'weighted_sum'
    )  # fmt: skip
    values = array([1, 2, 3, 4], dtype=np.float32)
    weights = array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)
    weighted_sum = to_numpy(weighted_mean(values, weights))
    mean = weighted_sum / to_numpy(weights).sum()
    np.testing.assert_allclose(mean, 3, rtol=1e-6)


def test_an_in_place_kernel(array: Callable[..., Any]) -> None:
    inplace_kernel = cp.ElementwiseKernel(
        'float32 x, float32 alpha',
        'float32 x',  # Same array for input and output
        'x = x * alpha + 1',
        'inplace_transform'
    )  # fmt: skip
    data = array(np.random.default_rng(0).random(1_000_000, dtype=np.float32))
    before = to_numpy(data).copy()
    assert inplace_kernel(data, 2.0, data) is data
    np.testing.assert_array_equal(to_numpy(data), before * np.float32(2) + np.float32(1))


def test_several_outputs(array: Callable[..., Any]) -> None:
    multi_output_kernel = cp.ElementwiseKernel(
        'float32 x',
        'float32 sin_x, float32 cos_x, float32 tan_x',
        '''
        sin_x = sinf(x);
        cos_x = cosf(x);
        tan_x = tanf(x);
        ''',
        'trig_functions'
    )  # fmt: skip
    angles = array(np.linspace(0, 2 * np.pi, 1000, dtype=np.float32))
    sin_vals, cos_vals, tan_vals = map(to_numpy, multi_output_kernel(angles))
    assert np.allclose(sin_vals**2 + cos_vals**2, 1.0)
    np.testing.assert_allclose(tan_vals, sin_vals / cos_vals, rtol=1e-3, atol=1e-5)

"""``fuse``: functions of arrays as one kernel, compared with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError
from pycu2c.cupy import fuse
from support.cupy_arrays import on_backend, to_numpy

X = np.linspace(-2, 3, 60, dtype=np.float32).reshape(3, 20)


def chain(x, y, s):  # type: ignore[no-untyped-def]
    t = np.sqrt(np.abs(x) + 1) * s
    return np.where(t > y, t - y, np.maximum(x, y)) ** 2


def both(x, y):  # type: ignore[no-untyped-def]
    return x + y, x // y


def squares(x, y):  # type: ignore[no-untyped-def]
    d = x - y
    return np.sum(d * d, axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_chain(backend: str, dtype: Any) -> None:
    x, y = X.astype(dtype), X[0].astype(dtype)
    result = to_numpy(fuse(chain)(on_backend(backend, x), on_backend(backend, y), 1.5))
    assert result.dtype == dtype
    np.testing.assert_allclose(result, chain(x, y, 1.5), rtol=1e-6)


@pytest.mark.parametrize(
    "types", [(np.int32, np.float32), (np.int8, np.int16), (np.float32, np.complex64)]
)
def test_types_are_numpys(backend: str, types: Any) -> None:
    x, y = (np.arange(1, 7).astype(dtype) for dtype in types)
    fused = fuse(lambda x, y: x * 2 + y)
    result = to_numpy(fused(on_backend(backend, x), on_backend(backend, y)))
    expected = x * 2 + y
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_numbers_of_python_take_the_type_of_arrays(backend: str) -> None:
    x = on_backend(backend, X)
    fused = fuse(lambda x, s: x * s)
    for value in (2, 2.5, True):
        assert to_numpy(fused(x, value)).dtype == np.float32
    assert to_numpy(fused(x, np.float64(2))).dtype == np.float64


def test_several_results(backend: str) -> None:
    x, y = np.arange(6), np.arange(6) + 2
    a, b = to_numpy(fuse(both)(on_backend(backend, x), on_backend(backend, y)))
    np.testing.assert_array_equal(a, x + y)
    np.testing.assert_array_equal(b, x // y)


def test_a_reduction_at_the_end(backend: str) -> None:
    result = to_numpy(fuse(squares)(on_backend(backend, X), 1.0))
    np.testing.assert_allclose(result, squares(X, np.float32(1)), rtol=1e-6)
    largest = fuse(lambda x: np.max(x * 2, axis=0, keepdims=True))
    np.testing.assert_array_equal(
        to_numpy(largest(on_backend(backend, X))), (X * 2).max(0, keepdims=True)
    )
    whole = np.arange(100, dtype=np.int8)
    total = to_numpy(fuse(lambda x: np.sum(x))(on_backend(backend, whole)))
    assert total.dtype == np.int64
    assert total == 4950


def test_forms_of_the_decorator() -> None:
    @fuse
    def one(x):  # type: ignore[no-untyped-def]
        """Adds one."""
        return x + 1

    @fuse()
    def two(x):  # type: ignore[no-untyped-def]
        return x + 2

    @fuse(kernel_name="more")
    def three(x):  # type: ignore[no-untyped-def]
        return x + 3

    assert [f(np.arange(2)).tolist() for f in (one, two, three)] == [[1, 2], [2, 3], [3, 4]]
    assert (one.__name__, one.__doc__, repr(three)) == ("one", "Adds one.", "<fused more>")
    three.clear_cache()
    assert three(np.arange(1)).tolist() == [3]


def test_numbers_without_arrays_are_computed_in_python() -> None:
    assert fuse(both)(7, 2) == (9, 3)


def test_names_that_c_has_others_for() -> None:
    def f(i, n, double, out):  # type: ignore[no-untyped-def]
        return i + n * double - out

    assert fuse(f)(np.arange(3), 1, 2, 3).tolist() == [-1, 0, 1]


def test_unsupported_fusions() -> None:
    with pytest.raises(TypeError, match="returns arrays"):
        fuse(lambda x: [x for _ in x])(X)
    with pytest.raises(
        AttributeError, match="an array of a fused function has no T: it supports oper"
    ):
        fuse(lambda x: x.T + 1)(X)
    with pytest.raises(CompileError):
        fuse(lambda x: {x: 1} if x > 0 else 0)(X)
    with pytest.raises(ValueError, match="Invalid kernel name"):
        fuse(kernel_name="1")(both)
    with pytest.raises(TypeError, match="missing 1 required"):
        fuse(both)(X)

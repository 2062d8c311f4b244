"""Repeated calls that C checks and starts, and calls that differ from an earlier one."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError
from pycu2c.cupy import ElementwiseKernel, ReductionKernel
from support.cupy_arrays import on_backend, to_numpy

AXPY = ("T x, T y, T a, int32 n", "T z", "z = a * x + y + n", "axpy")
SUM = ("T x", "T y", "x", "a + b", "y = a", "0", "sum")


def learnt(kernel: Any, *args: Any, **named: Any) -> Any:
    """A kernel that has been called often enough, and knows such calls."""
    for _ in range(9):
        kernel(*args, **named)
    assert kernel._call_cache._calls
    return kernel


def test_elementwise_calls_with_and_without_outputs(backend: str) -> None:
    x, y = np.arange(5.0), np.arange(5.0) * 10
    kernel = learnt(ElementwiseKernel(*AXPY), on_backend(backend, x), on_backend(backend, y), 2, 3)
    np.testing.assert_array_equal(
        to_numpy(kernel(on_backend(backend, x), on_backend(backend, y), 4.5, -1)), 4.5 * x + y - 1
    )
    out = on_backend(backend, np.zeros(5))
    learnt(kernel, on_backend(backend, x), on_backend(backend, y), 2, 3, out)
    assert kernel(on_backend(backend, x), on_backend(backend, y), 1, 0, out) is out
    np.testing.assert_array_equal(to_numpy(out), x + y)


@pytest.mark.parametrize("named", [{"size": 7}, {"size": 7, "block_size": 64}], ids=str)
def test_sizes_that_are_named(named: dict[str, int], backend: str) -> None:
    kernel = ElementwiseKernel("raw T x", "raw T z", "z[i] = x[i] + i", "numbered")
    x, out = on_backend(backend, np.ones(9)), on_backend(backend, np.zeros(9))
    learnt(kernel, x, out, **named)
    out[:] = 0
    kernel(x, out, **named)
    assert to_numpy(out).tolist() == [1, 2, 3, 4, 5, 6, 7, 0, 0]
    out[:] = 0
    kernel(x, out, **{**named, "size": 2})
    assert to_numpy(out).tolist() == [1, 2] + [0] * 7


def test_views(backend: str) -> None:
    whole = on_backend(backend, np.arange(24.0).reshape(4, 6))
    kernel = learnt(ElementwiseKernel(*AXPY), whole[::2, ::3], whole[0, :2], 1, 0)
    for k in range(2):
        result = kernel(whole[k::2, k::3], whole[k, :2], 1, 0)
        expected = to_numpy(whole)[k::2, k::3] + to_numpy(whole)[k, :2]
        np.testing.assert_array_equal(to_numpy(result), expected)


def test_different_calls_take_the_slow_path(backend: str) -> None:
    x = on_backend(backend, np.arange(5.0))
    kernel = learnt(ElementwiseKernel(*AXPY), x, x, 2, 3)
    for other in (np.arange(6.0), np.arange(5, dtype=np.float32), np.arange(5.0)[::-1]):
        arguments = on_backend(backend, other)
        np.testing.assert_array_equal(to_numpy(kernel(arguments, arguments, 2, 3)), other * 3 + 3)
    np.testing.assert_array_equal(to_numpy(kernel(x, x, True, 3)), np.arange(5.0) * 2 + 3)
    np.testing.assert_array_equal(to_numpy(kernel(x, x, 2, 2**32 + 3)), np.arange(5.0) * 3 + 3)
    with pytest.raises(TypeError, match="is complex"):
        kernel(x, x, 1j, 3)


def test_outputs_that_overlap_inputs(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T z", "z = x", "copy")
    data, apart = on_backend(backend, np.arange(20_000.0)), on_backend(backend, np.zeros(20_000))
    learnt(kernel, data[:-1], apart[1:])
    kernel(data[:-1], data[1:])
    np.testing.assert_array_equal(to_numpy(data), np.maximum(np.arange(20_000.0) - 1, 0))
    kernel(data, data)
    np.testing.assert_array_equal(to_numpy(data), np.maximum(np.arange(20_000.0) - 1, 0))


def test_an_output_that_may_not_be_written() -> None:
    out = np.zeros(5)
    kernel = learnt(ElementwiseKernel("T x", "T z", "z = x", "copy"), np.arange(5.0), out)
    out.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        kernel(np.arange(5.0), out)


def test_reductions(backend: str) -> None:
    rng = np.random.default_rng(3)
    for shape in ((7,), (300_000,), (600, 500)):
        for axis in (None, 0, -1):
            x = rng.integers(-9, 9, shape).astype(np.float32)
            kernel = learnt(ReductionKernel(*SUM), on_backend(backend, x), axis=axis)
            for _ in range(3):
                x = rng.integers(-9, 9, shape).astype(np.float32)
                result = to_numpy(kernel(on_backend(backend, x), axis=axis))
                np.testing.assert_array_equal(result, x.sum(axis=axis))
            other = 0 if axis != 0 else None
            np.testing.assert_array_equal(
                to_numpy(kernel(on_backend(backend, x), axis=other)), x.sum(axis=other)
            )


def test_threads_that_reduce_at_the_same_time() -> None:
    kernel = ReductionKernel(*SUM)
    arrays = [np.full(200_000, k, np.float32) for k in range(4)]
    learnt(kernel, arrays[0])
    wrong: list[object] = []

    def work(array: Any) -> None:
        for _ in range(50):
            result = kernel(array)
            if result != array.sum():
                wrong.append(result)

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_kinds_of_calls_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pycu2c.compat.cupy.fast_calls._MAX_CALLS", 3)
    kernel = ElementwiseKernel("T x", "T z", "z = x + 1", "next")
    for n in range(1, 8):
        learnt(kernel, np.zeros(n))
    assert len(kernel._call_cache._calls) <= 3
    assert kernel(np.zeros(2)).tolist() == [1, 1]

"""``reduce`` and the scans, compared with NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms.conftest import to_host
from pycu2c import algorithms, kernel
from pycu2c.algorithms.reductions import reduce_kernel
from pycu2c.algorithms.scans import scan_kernel
from pycu2c.toolchain.nvrtc import nvrtc

OnTarget = Callable[[Any], Any]
DTYPES = [np.int8, np.float32, np.uint64, np.complex64]
SIZES = [0, 1, 257, 1500]


def numbers(size: int, dtype: Any) -> np.ndarray[Any, Any]:
    return np.random.default_rng(size).integers(0, 100, size).astype(dtype)


def compose(f: Any, g: Any) -> Any:
    """Return the composition of two affine functions: associative, not commutative."""
    return f[0] * g[0], f[1] * g[0] + g[1]


def greater(a: Any, b: Any) -> Any:
    """Return the pair with the greater value, and of equal ones the first."""
    return b if b[0] > a[0] or (b[0] == a[0] and b[1] < a[1]) else a


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(on_target: OnTarget, tiles: Any, size: int, dtype: Any) -> None:
    x = numbers(size, dtype)
    a = on_target(x)
    expected = np.add.accumulate(x, dtype=dtype)
    np.testing.assert_array_equal(to_host(algorithms.inclusive_scan(a)), expected)
    with_initial = np.add.accumulate(np.append(dtype(7), x), dtype=dtype)
    scanned = algorithms.inclusive_scan(a, lambda p, q: p + q, 7)
    np.testing.assert_array_equal(to_host(scanned), with_initial[1:])
    scanned = algorithms.exclusive_scan(a, operator.add, 7)
    np.testing.assert_array_equal(to_host(scanned), with_initial[:-1])


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(on_target: OnTarget, size: int, dtype: Any) -> None:
    x = numbers(size, dtype)
    a = on_target(x)
    assert to_host(algorithms.reduce(a)) == np.add.reduce(x, dtype=dtype)
    assert to_host(algorithms.reduce(a, operator.add, 3)) == np.add.reduce(
        x, dtype=dtype, initial=3
    )
    if dtype is not np.complex64:
        assert to_host(algorithms.reduce(a, max)) == x.max()


def test_large_reductions(on_target: OnTarget, target: str) -> None:
    x = numbers(3000 if target == "python" else 10**6, np.int64)
    assert to_host(algorithms.reduce(on_target(x))) == x.sum()


def test_scans_keep_the_order(on_target: OnTarget, tiles: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-9, 9, (2, 1000)).astype(np.uint32)
    scanned = algorithms.inclusive_scan((on_target(a), on_target(b)), compose)
    values = [(a[0], b[0])]
    with np.errstate(over="ignore"):
        for f in zip(a[1:], b[1:], strict=True):
            values.append(compose(values[-1], f))
    np.testing.assert_array_equal(np.transpose(values), [to_host(s) for s in scanned])


def test_reduction_of_pairs(on_target: OnTarget) -> None:
    x = numbers(1000, np.float32)
    indices = on_target(np.arange(1000, dtype=np.int32))
    value, index = algorithms.reduce((on_target(x), indices), greater)
    assert (to_host(value), to_host(index)) == (x.max(), x.argmax())


def test_strided_arrays_and_wider_results(on_target: OnTarget, tiles: Any) -> None:
    x = numbers(2000, np.int8)
    a, out = on_target(x)[::-3], on_target(np.zeros(667, np.int64))
    assert algorithms.inclusive_scan(a, out=out) is out
    np.testing.assert_array_equal(to_host(out), x[::-3].cumsum(dtype=np.int64))
    total = on_target(np.zeros(1, np.int64))
    assert algorithms.reduce(a, out=total) is total
    assert to_host(total)[0] == x[::-3].sum(dtype=np.int64)


def test_scan_in_place(on_target: OnTarget, tiles: Any) -> None:
    x = numbers(999, np.int32)
    a = on_target(x.copy())
    algorithms.exclusive_scan(a, max, -1, a)
    np.testing.assert_array_equal(to_host(a), np.maximum.accumulate(np.append(-1, x))[:-1])


def test_operation_of_another_type(on_target: OnTarget, tiles: Any) -> None:
    """The states of tiles have the size of an element, so results are converted to its type."""
    x = numbers(700, np.int32)
    scanned = algorithms.inclusive_scan(on_target(x), lambda a, b: a + b * 1.0)
    np.testing.assert_array_equal(to_host(scanned), x.cumsum(dtype=np.int32))


def test_reduction_of_nothing() -> None:
    empty = np.zeros(0, np.float32)
    assert algorithms.reduce(empty, operator.add, 2) == 2
    with pytest.raises(ValueError, match="without an initial value"):
        algorithms.reduce(empty)


@pytest.mark.parametrize(
    ("a", "out", "message"),
    [
        (np.zeros((2, 2)), None, "one axis, not 2"),
        (np.zeros(3), np.zeros(4), "3 elements"),
        ((np.zeros(3), np.zeros(4)), None, "3 elements"),
        ((np.zeros(3), np.zeros(3)), np.zeros(3), "1 arrays for 2"),
    ],
)
def test_wrong_arrays(a: Any, out: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        algorithms.inclusive_scan(a, max, out=out)


def test_wrong_operations_and_initial_values() -> None:
    with pytest.raises(TypeError, match=r"pass a function, such as .* a lambda, not 'add'"):
        algorithms.reduce(np.arange(3), "add")
    with pytest.raises(ValueError, match=r"the initial value 0\.5 is not a number of int64"):
        algorithms.exclusive_scan(np.arange(3), max, 0.5)


@pytest.mark.parametrize("threads", [1, 32, 96])
def test_checks_report_no_race(threads: int) -> None:
    """Tiles read the states that other blocks write: by design, and in order."""
    x = numbers(6 * threads * 4, np.int64)
    made = scan_kernel("cpu", threads, 4, exclusive=False)
    checked = kernel(backend="cpu", check=True)(made.python)
    out, states = np.zeros_like(x), np.zeros((6, 2), np.uint64)
    checked[6, threads]((out,), (x,), states, operator.add, None)
    np.testing.assert_array_equal(out, x.cumsum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_for_gpus_compile(dtype: Any) -> None:
    """A tile is in registers: it is not spilled to memory."""
    x = numbers(100, dtype)
    scan = scan_kernel("cpu", 128, 24 * 4 // x.itemsize, exclusive=False)
    scan[1, 128]((np.zeros_like(x),), (x,), np.zeros((1, 2), np.uint64), operator.add, None)
    reduce = reduce_kernel("cpu", 8)
    reduce[1, 256]((np.zeros_like(x),), (x,), operator.add, None)
    for made in scan, reduce:
        assert made.attributes(arch="sm_90").local_bytes == 0
        assert nvrtc.compile(made.inspect("cuda"), made.name, "sm_90").data

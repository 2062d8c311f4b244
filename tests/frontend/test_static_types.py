"""What is known of types at compile time: ``isinstance``, ``np.result_type``, ``v.dtype``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, float32, int32, kernel
from pycu2c.base.vector_types import float2
from support.launching import run

CLASSES = (np.ndarray, tuple, int, float, bool, np.floating, np.int32, np.generic)


@device
def classes_of(x):
    """Return a bit for each class of which ``x`` is an instance."""
    bits = 0
    bits |= 1 if isinstance(x, np.ndarray) else 0
    bits |= 2 if isinstance(x, tuple) else 0
    bits |= 4 if isinstance(x, int) else 0
    bits |= 8 if isinstance(x, float) else 0
    bits |= 16 if isinstance(x, bool) else 0
    bits |= 32 if isinstance(x, np.floating) else 0
    bits |= 64 if isinstance(x, (np.int32, np.uint8)) else 0
    bits |= 128 if isinstance(x, np.generic) else 0
    return bits


@kernel
def classify(out, i4, f4, f8):
    local = cuda.local.array(2, float32)
    out[0] = classes_of(i4[0])
    out[1] = classes_of(f4[0])
    out[2] = classes_of(f8[0])
    out[3] = classes_of(local)
    out[4] = classes_of((1, 2))
    out[5] = classes_of(len(out))
    out[6] = classes_of(len(out) > 2)
    out[7] = classes_of(0.5)
    out[8] = classes_of(i4)


def test_isinstance_is_that_of_python(target: str) -> None:
    arrays = [np.ones(1, t) for t in ("i4", "f4", "f8")]
    out, *_ = run(classify, (1, 1), [np.zeros(9, np.int32), *arrays], target)
    values: list[Any] = [a[0] for a in arrays]
    values += [np.ones(2), (1, 2), 9, True, 0.5, arrays[0]]
    expected = [
        sum(
            1 << bit
            for bit, c in enumerate(CLASSES)
            if isinstance(value, c if c is not np.int32 else (np.int32, np.uint8))
        )
        for value in values
    ]
    np.testing.assert_array_equal(out, expected)


@device
def first(x):
    """Return the first element of an array, or the number: types that exclude each other."""
    if not isinstance(x, np.ndarray):
        return x
    return x[0]


@kernel
def read_first(out, x):
    out[0] = first(x) + first(x[1])


def test_branches_of_other_types_are_not_compiled(target: str) -> None:
    out, _ = run(read_first, (1, 1), [np.zeros(1), np.array([2.0, 3.0])], target)
    assert out[0] == 5


def test_isinstance_takes_classes() -> None:
    @kernel
    def compare(out, x):
        out[0] = isinstance(x[0], 3)

    with pytest.raises(CompileError, match="takes a class"):
        compare.inspect("cuda", (int32[::1], float32[::1]))


@kernel
def allocate_by_type(out, x, v):
    a = cuda.local.array(2, np.result_type(x[0] + 1))
    b = cuda.local.array(2, np.result_type(len(out)))
    c = cuda.local.array(2, v[0].dtype)
    a[0] = x[0]
    b[0] = 2**40
    c[0] = v[0]
    out[0] = a[0] + 0.5
    out[1] = b[0]
    out[2] = c[0].y


def test_types_of_values_are_dtypes(target: str) -> None:
    v = np.array([[1, 2]], np.float32).view(float2.numpy)[:, 0]
    out, *_ = run(allocate_by_type, (1, 1), [np.zeros(3), np.ones(1, np.int8), v], target)
    np.testing.assert_array_equal(out, [1.5, 2.0**40, 2])


# ---- constants for shapes are passed on ----------------------------------------------------------


@device
def reverse(x, threads):
    values = cuda.shared.array(threads, x.dtype)
    values[cuda.threadIdx.x] = x
    cuda.syncthreads()
    result = values[threads - 1 - cuda.threadIdx.x]
    cuda.syncthreads()
    return result


@device
def reverse_twice(x, threads):
    return reverse(reverse(x, threads), threads=threads)


@kernel
def keep_order(x):
    x[cuda.threadIdx.x] = reverse_twice(x[cuda.threadIdx.x], 40)


def test_constants_reach_inner_functions(target: str) -> None:
    (x,) = run(keep_order, (1, 40), [np.arange(40)], target)
    np.testing.assert_array_equal(x, np.arange(40))


# ---- exchanges of tuples -------------------------------------------------------------------------


@kernel
def rotate(out, x):
    lane = cuda.laneid
    value, (source, twice) = cuda.shfl_sync(
        0xFFFFFFFF, (x[lane], (lane, 2 * lane)), (lane + 1) % 32
    )
    out[lane] = value + source + twice


def test_shuffles_exchange_tuples(target: str) -> None:
    x = np.random.default_rng(1).integers(0, 100, 32).astype(np.float64)
    out, _ = run(rotate, (1, 32), [np.zeros(32), x], target)
    np.testing.assert_array_equal(out, np.roll(x + 3 * np.arange(32), -1))

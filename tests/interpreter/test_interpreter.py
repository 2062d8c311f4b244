"""What the interpreter of typed IR checks, and the values that it computes with."""

from __future__ import annotations

import re
import traceback
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, kernel

interpreted = kernel(backend="python")


@device
def second(a, i):
    return a[i]


@interpreted
def read(a, out, i):
    out[0] = a[i]


@interpreted
def written(a, out, i):
    a[i] = 1


@interpreted
def added(a, out, i):
    cuda.atomic.add(a, i, 1)


@interpreted
def of_view(a, out, i):
    v = a[1:]
    out[0] = v[i]


@interpreted
def of_reversed_view(a, out, i):
    v = a[::-1]
    out[0] = v[i]


@interpreted
def of_argument(a, out, i):
    out[0] = second(a[1:], i)


@interpreted
def of_row(a, out, i):
    m = a.reshape(2, 2)
    out[0] = m[i, 1]


@interpreted
def of_local(a, out, i):
    local = cuda.local.array(4, int32)
    local[i] = 1


@interpreted
def of_tuple(a, out, i):
    items = (a[0], a[1], a[2], a[3])
    out[0] = items[i]


@pytest.mark.parametrize(
    ("k", "size"),
    [
        (read, 4),
        (written, 4),
        (added, 4),
        (of_view, 3),
        (of_reversed_view, 4),
        (of_argument, 3),
        (of_row, 2),
        (of_local, 4),
        (of_tuple, 4),
    ],
    ids=lambda k: getattr(k, "name", ""),
)
def test_an_index_is_within_its_array(k: Any, size: int) -> None:
    for index in (size - 1, -size):
        k[1, 1](np.arange(4), np.zeros(1, np.int64), index)
    for index in (size, -size - 1):
        with pytest.raises(
            IndexError, match=rf"^{re.escape(__file__)}:\d+: index {index} "
        ) as raised:
            k[1, 1](np.arange(4), np.zeros(1, np.int64), index)
        assert str(raised.value).endswith(", in thread (0, 0, 0) of block (0, 0, 0)")


def test_an_error_names_line_array_and_thread() -> None:
    @interpreted
    def outside(a):
        i = cuda.grid(1)
        a[i] = 1

    with pytest.raises(IndexError) as raised:
        outside[2, 2](np.zeros(3, np.int32))
    line = outside.python.__code__.co_firstlineno + 3
    assert str(raised.value) == (
        f"{__file__}:{line}: index 3 is out of bounds for axis 0 with size 3 of a, "
        "in thread (1, 0, 0) of block (1, 0, 0)"
    )


def test_a_traceback_shows_the_line_of_the_kernel() -> None:
    with pytest.raises(IndexError) as raised:
        of_argument[1, 1](np.arange(4), np.zeros(1, np.int64), 9)
    shown = [(f.name, f.line) for f in traceback.extract_tb(raised.value.__traceback__)]
    assert ("<of_argument>", "out[0] = second(a[1:], i)") in shown
    assert ("<second>", "return a[i]") in shown


def test_a_view_of_a_missing_row_is_an_error() -> None:
    @device
    def total(row):
        return row[0] + row[1]

    @interpreted
    def rows(m, out, i):
        out[0] = total(m[i])

    out = np.zeros(1)
    rows[1, 1](np.ones((2, 2)), out, -1)
    assert out[0] == 2
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2 of m"):
        rows[1, 1](np.ones((2, 2)), out, 2)


@pytest.mark.filterwarnings("ignore")
def test_a_variable_without_a_value_reads_zero() -> None:
    @interpreted
    def sometimes(out, x):
        if x[0] > 5:
            k = x[0]
        out[0] = k

    out = np.full(1, 9, np.int32)
    sometimes[1, 1](out, np.int32([1]))
    assert out[0] == 0


def test_a_record_that_is_read_is_a_copy() -> None:
    @device
    def halved(p):
        p.x /= 2
        return p.x

    @interpreted
    def k(records, out):
        out[0] = halved(records[0])
        records[1] = records[0]
        records[0].x = 7

    records = np.array([(3.0, 1), (0.0, 2)], [("x", "f8"), ("n", "i4")])
    out = np.zeros(1)
    k[1, 1](records, out)
    assert out[0] == 1.5
    assert records.tolist() == [(7.0, 1), (1.5, 1)]


def test_new_memory_is_not_zero() -> None:
    @interpreted
    def dirty(out):
        shared = cuda.shared.array(1, int32)
        local = cuda.local.array((1, 2), dtype=int32)
        out[0] = shared[0]
        out[1] = local[0, 1]

    out = np.zeros(2, np.int32)
    dirty[1, 1](out)
    assert out.all()


def test_python_floats_in_32_bits_are_printed_as_floats(capsys: pytest.CaptureFixture[str]) -> None:
    @kernel(backend="python", weak_float="float32")
    def printed(x):
        y = 0.1
        print(y * x, f"{y:.9f}", f"{y!r}")

    printed[1, 1](2.0)
    assert capsys.readouterr().out == "0.20000000298023224 0.100000001 0.10000000149011612\n"


def test_raise_ends_the_thread_alone_in_an_unchecked_kernel() -> None:
    @device
    def positive(x):
        if x < 0:
            raise ValueError(x)
        return x

    @interpreted
    def k(a):
        i = cuda.threadIdx.x
        a[i] = positive(a[i]) + 1

    a = np.array([1.0, -1, 2])
    k[1, 3](a)
    assert a.tolist() == [2, -1, 3]


def test_a_checked_kernel_raises_the_first_exception_at_once() -> None:
    @kernel(backend="python", check=True)
    def k(a):
        i = cuda.threadIdx.x
        a[i] = 1
        assert i < 1, f"{i} of {a[0]}"

    a = np.zeros(3)
    line = k.python.__code__.co_firstlineno + 4
    expected = f"^{re.escape(__file__)}:{line}: 1 of 1.0, in thread \\(1, 0, 0\\) of block"
    with pytest.raises(AssertionError, match=expected):
        k[1, 3](a)
    assert a.tolist() == [1, 1, 0]


def test_a_loop_that_polls_in_a_called_function_lets_others_run() -> None:
    @device
    def is_set(flag):
        return cuda.atomic.add(flag, 0, 0) > 0

    @interpreted
    def k(flag, out):
        if cuda.threadIdx.x == 0:
            while not is_set(flag):
                pass
            out[0] = 1
        else:
            cuda.atomic.add(flag, 0, 1)

    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    k[1, 2](flag, out)
    assert out[0] == 1


def test_numbers_have_the_types_of_the_compiler() -> None:
    @interpreted
    def k(out, a):
        out[0] = float32(0.1) * a
        out[1] = 2**62 * a * 2
        out[2] = -7 // a

    out = np.zeros(3)
    k[1, 1](out, 4)
    assert out.tolist() == [float(np.float32(0.1) * np.float32(4)), 0.0, -2]

"""Work-item loops in the generated C: their bounds, and which are SIMD loops."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pycu2c import cuda, float32, int32, int64, kernel
from support.launching import run

F = float32[::1]
LOCKSTEP = "#pragma omp simd"


def loops(text: str) -> list[str]:
    """The heads of the loops that threads run in, as ``i from a to b``."""
    body = text[text.index("\nvoid ") :]
    heads = re.findall(r"for \(int64_t (\w+) = (.*?); \1 < (.*?); \+\+\1\)", body)
    return [f"{v} from {a} to {b}" for v, a, b in heads if v != "block"]


def test_a_guard_on_the_place_in_the_grid_bounds_a_row() -> None:
    @kernel
    def inner(out, a):
        x, y = cuda.grid(2)
        if x >= a.shape[1] or y >= a.shape[0]:
            return
        if x > 0 and x < a.shape[1] - 1:
            out[y, x] = a[y, x - 1] + a[y, x + 1]

    text = inner.inspect("c", (float32[:, ::1], float32[:, ::1]), (16, 16))
    assert loops(text) == [
        "y from first_y to min_i64(last_y, a_shape0)",
        "x from max_i64(first_x, 1LL) to min_i64(min_i64(last_x, a_shape1), a_shape1 - 1)",
    ]
    assert LOCKSTEP in text


def test_a_guard_on_the_place_in_the_block_bounds_it() -> None:
    @kernel
    def parts(out, s):
        t = cuda.threadIdx.x
        out[t] = 0
        cuda.syncthreads()
        if t < s:
            out[t] += out[t + s]
        cuda.syncthreads()
        if t >= 5:
            out[t] = 2
        cuda.syncthreads()
        if t == 3:
            out[t] = 1

    text = parts.inspect("c", (F, int32), 64)
    assert loops(text) == [
        "t from 0 to 64",
        "t from 0 to min_i64(64LL, (int64_t)s)",
        "t from 5 to 64",
    ]
    assert "const int64_t t = 3;" in text


def test_a_possible_overflow_keeps_the_condition() -> None:
    @kernel
    def beyond(out, data):
        t = cuda.threadIdx.x
        n = data[0]
        cuda.syncthreads()
        if t + n < 10:
            out[t] = 1

    text = beyond.inspect("c", (F, int64[::1]), 32)
    assert re.search(r"if \(.*t.* \+ .*n.* < 10\)", text)
    out = np.zeros(32, np.float32)
    for n in (0, -(2**63), 2**63 - 1, 2**63 - 40):
        arguments = out, np.array([n], np.int64)
        expected = run(beyond, (1, 32), arguments, "python")[0]
        assert np.array_equal(run(beyond, (1, 32), arguments, "cpu")[0], expected)


@pytest.mark.parametrize("bits", [32, 64])
def test_a_step_has_the_integer_type_of_the_loop(bits: int) -> None:
    """``t`` of another type once gave the loop over threads a step of that."""
    kind = int32 if bits == 32 else int64

    @kernel
    def some(out):
        t = kind(cuda.threadIdx.x)
        if t % 4 == 0:
            out[t] = 1

    out = run(some, (1, 64), (np.zeros(64, np.int32),), "cpu")[0]
    assert out.tolist() == [1, 0, 0, 0] * 16
    assert "t += 4" in some.inspect("c", (int32[::1],), 64).replace("tx", "t")


@pytest.mark.parametrize("least", [2**63 - 1, 2**63 - 2, 2**62, 70, 61, 9, 0, -5, -(2**63)])
def test_no_multiple_of_a_step_is_beyond_64_bits(least: int) -> None:
    @kernel
    def some(out, least):
        i = cuda.grid(1)
        if i % 4 == 0 and i >= least[0]:
            out[i] = 1

    @kernel
    def parts(out, least):
        t = cuda.threadIdx.x
        first = least[0]
        cuda.syncthreads()
        if t % 4 == 0 and t >= first:
            out[t] = 1

    for each in (some, parts):
        arguments = np.zeros(64, np.int32), np.array([least], np.int64)
        result, expected = (run(each, (1, 64), arguments, t)[0] for t in ("cpu", "python"))
        assert result.tolist() == expected.tolist()


@kernel
def with_gaps(a, b, out):
    i = cuda.grid(1)
    first = a[2 * i]
    b[i] = 5
    out[i] = first + a[2 * i + 1]


@pytest.mark.parametrize("at", range(16))
def test_a_thread_that_reads_its_own_stores(at: int) -> None:
    """gcc would load ``a[2 * i + 1]`` with ``a[2 * i]``, before the store."""
    memory = np.zeros(64, np.float32)
    out = np.zeros(16, np.float32)
    fresh = type(with_gaps)(with_gaps.python, backend="cpu")
    fresh[1, 16](memory[:32], memory[at + 1 : at + 17], out)  # b[at] is a[2 * at + 1]
    assert out[at] >= 5
    assert LOCKSTEP not in with_gaps.inspect("c", (F, F, F), 16)


def test_what_has_an_order_keeps_it() -> None:
    @kernel
    def counted(out, a):
        i = cuda.grid(1)
        cuda.atomic.add(out, 0, a[i])

    @kernel
    def last_one(out, a):
        i = cuda.grid(1)
        out[0] = a[i]

    @kernel
    def reported(out, a):
        i = cuda.grid(1)
        print(a[i])
        out[i] = 1

    for each in (counted, last_one, reported):
        assert LOCKSTEP not in each.inspect("c", (F, F), 64)
    assert "first_x" not in counted.inspect("c", (F, F), 64)


def test_few_threads_are_not_worth_a_vector() -> None:
    @kernel
    def two(out):
        out[cuda.threadIdx.x] = 1

    assert LOCKSTEP not in two.inspect("c", (F,), 2)
    assert LOCKSTEP in two.inspect("c", (F,), 64)


@pytest.mark.parametrize("grid", [(5, 3, 2), (1, 7), 9])
@pytest.mark.parametrize("block", [(4, 2, 3), (32, 2), (1, 16), 48])
def test_rows_of_any_shape(grid: object, block: object) -> None:
    @kernel
    def places(out):
        x, y, z = cuda.grid(3)
        if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
            out[z, y, x] += x + 100 * y + 10000 * z

    out = np.zeros((5, 6, 100), np.int32)
    expected = run(places, (grid, block), (out,), "python")[0]
    assert np.array_equal(run(places, (grid, block), (out,), "cpu")[0], expected)

"""Loops from a loaded value, whose indices may count from the end of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float64, kernel

STARTS = np.array([0, 3, -4, -9, 5, -2, 2, -1])
STOPS = np.array([4, 3, 0, -3, 12, 3, 20, 1])
VALUES = np.arange(1.0, 21.0)


def expected(result: Any) -> list[float]:
    return [result(a, b) for a, b in zip(STARTS, STOPS)]


def launched(function: Any, target: str) -> np.ndarray:
    out = np.zeros(len(STARTS))
    kernel(backend=target)(function)[1, 32](STARTS, STOPS, VALUES, out)
    return out


def total(starts, stops, values, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(starts[i], stops[i]):
            out[i] += values[k]


def counter_is_used_later(starts, stops, values, out):
    i = cuda.grid(1)
    if i < out.size:
        k = 100
        last = 0.0
        for k in range(starts[i], stops[i]):
            if values[k] > 18:
                break
            last = values[k]
        out[i] = k * 1000 + last


def locals_keep_values(starts, stops, values, out):
    i = cuda.grid(1)
    if i < out.size:
        step = 0.0
        for k in range(starts[i], stops[i], 2):
            if k % 4 == 0:
                seen = values[k]
            step += seen
        out[i] = step


def by_an_offset(starts, stops, values, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(starts[i], stops[i] - i):
            out[i] += values[k + i]


def bounds_change(starts, stops, values, out):
    i = cuda.grid(1)
    if i < out.size:
        stop = stops[i]
        start = starts[i]
        for k in range(start, stop):
            start += 1
            stop = start
            out[i] += values[k]


def test_sums(target: str) -> None:
    sums = expected(lambda a, b: sum(VALUES[k] for k in range(a, b)))
    assert launched(total, target).tolist() == sums
    assert launched(bounds_change, target).tolist() == sums


def test_the_counter_is_used_later(target: str) -> None:
    def result(start: int, stop: int) -> float:
        k, last = 100, 0.0
        for k in range(start, stop):
            if VALUES[k] > 18:
                break
            last = VALUES[k]
        return k * 1000 + last

    assert launched(counter_is_used_later, target).tolist() == expected(result)


@pytest.mark.filterwarnings("ignore:.*maybe-undefined")
def test_locals_keep_their_values(target: str) -> None:
    def result(start: int, stop: int) -> float:
        seen = step = 0.0
        for k in range(start, stop, 2):
            seen = VALUES[k] if k % 4 == 0 else seen
            step += seen
        return step

    assert launched(locals_keep_values, target).tolist() == expected(result)


def test_an_index_with_an_offset(target: str) -> None:
    sums = [
        sum(VALUES[k + i] for k in range(a, b - i)) for i, (a, b) in enumerate(zip(STARTS, STOPS))
    ]
    assert launched(by_an_offset, target).tolist() == sums


def with_barrier(starts, values, out):
    tile = cuda.shared.array(32, float64)
    i = cuda.grid(1)
    for k in range(starts[0], starts[1]):
        tile[cuda.threadIdx.x] = values[k]
        cuda.syncthreads()
        out[i] += tile[31 - cuda.threadIdx.x]
        cuda.syncthreads()


def unknown_step(starts, values, out):
    for k in range(starts[0], starts[1], starts[2]):
        out[0] += values[k]


def from_the_length(starts, values, out):
    for k in range(cuda.grid(1), starts[1]):
        out[0] += values[k]


@pytest.mark.parametrize("function", [with_barrier, unknown_step, from_the_length])
def test_other_loops_are_not_split(function: Any) -> None:
    text = kernel("void(int64[::1], float64[::1], float64[::1])")(function).inspect("cuda")
    assert text.count("values[") == 1


def test_one_loop_has_no_test_of_the_sign() -> None:
    text = kernel("void(int64[::1], int64[::1], float64[::1], float64[::1])")(total).inspect("cuda")
    assert "values[k]" in text
    assert "values[k < 0 ?" in text


@device
def total_of(values, count):
    result = 0.0
    if count == 1:
        for k in range(8):
            result += values[k]
    for k in range(count):
        result += values[k]
    return result


def test_a_branch_that_never_runs_is_written_like_any_other() -> None:
    @kernel("void(float64[::1], float64[::1])")
    def total_of_four(out, values):
        out[0] = total_of(values, 4)

    text = total_of_four.inspect("cuda")
    assert "for (int k = 0; k < 8; ++k) {" in text
    assert text.count("values[k]") == 2

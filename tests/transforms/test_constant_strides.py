"""Strides that are the same constant in all calls of a device function are not passed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, kernel
from support.launching import run

ROWS, ANY = "float32[:, ::1], float32[::1]", "float32[:, :], float32[::1]"


@device
def weighted(rows, i):
    total = np.float32(i)
    for j in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            total += rows[j, k] * (2 * j + k)
        rows[j, 0] += 1
    return total


@device
def weighted_inside(rows, i):
    return weighted(rows[1:, 1:-1], i) if rows.shape[0] > 1 else weighted(rows, i)


@device
def steps(values, i):
    total = np.float32(0)
    for k in range(values.size):
        total += values[k] * (k + i)
    return total


@device
def halved(rows, depth: int32) -> float32:
    if depth == 0 or rows.shape[0] < 2:
        return rows[0, 1]
    return rows[1, 0] + halved(rows[:, 1:] if depth & 1 else rows[1:, :], depth - 1)


@kernel
def columns(a, out):
    i = cuda.grid(1)
    out[i] = weighted(a[:, 2 + i :], i) + weighted(a[:, :3], i)


@kernel
def every_second_row(a, out):
    out[cuda.grid(1)] = weighted(a[::2, :], 1)


@kernel
def nested_slices(a, out):
    inside = a[1:, 1:]
    out[cuda.grid(1)] = weighted_inside(inside[:, 1:], cuda.threadIdx.x)


@kernel
def transposed(a, out):
    out[cuda.grid(1)] = weighted(a.T, 2)


@kernel
def slices_and_transposes(a, out):
    out[cuda.grid(1)] = weighted(a.T, 2) + weighted(a[:, 1:], 2)


@kernel
def negative_steps(a, out):
    i = cuda.grid(1)
    out[i] = steps(a[1, ::-1], i)


@kernel
def every_third(a, out):
    out[cuda.grid(1)] = steps(a[1, ::3], 1) + steps(a[2, 1::3], 2)


@kernel
def one_column(a, out):
    out[cuda.grid(1)] = steps(a[:, 1], 1)


@kernel
def reshaped(a, out):
    i = cuda.grid(1)
    out[i] = weighted(out.reshape(2, 4)[:, 1:], i) * 0 + steps(a.reshape(8, 6)[2:, 3], 1)


@kernel
def shared_rows(a, out):
    tile = cuda.shared.array((4, 6), np.float32)
    for k in range(24):
        tile[k // 6, k % 6] = a[k // 6, k % 6]
    cuda.syncthreads()
    out[cuda.blockIdx.x] = weighted(tile[:, 2:], 1) + steps(tile[1:, 2], 1)


@kernel
def three_axes(a, out):
    blocks = a.reshape(2, 3, 8)
    out[cuda.grid(1)] = weighted(blocks[:, 1], 1) + weighted(blocks[1, :, 3:], 2)


@kernel
def recursive(a, out):
    out[cuda.grid(1)] = halved(a, 3) + halved(a[:, 1:], 2)


@kernel
def rows_with_gaps(a, out):
    out[cuda.grid(1)] = weighted(a[:, 1:], 1) + steps(a[2], 1)


# kernel, types, whether the function takes strides of its axes
CASES = [
    (columns, ROWS, {0}),
    (every_second_row, ROWS, {0}),
    (nested_slices, ROWS, {0}),
    (transposed, ROWS, {1}),
    (slices_and_transposes, ROWS, {0, 1}),
    (negative_steps, ROWS, set()),
    (every_third, ROWS, set()),
    (one_column, ROWS, {0}),
    (three_axes, ROWS, {0}),
    (shared_rows, ROWS, set()),
    (rows_with_gaps, ANY, {0, 1}),
]


@pytest.mark.parametrize("language", ["cuda", "c"])
@pytest.mark.parametrize(
    ("k", "types", "passed"), CASES, ids=lambda case: getattr(case, "name", "")
)
def test_only_variable_strides_are_passed(k, types: str, passed: set[int], language: str) -> None:
    text = k.inspect(language, types)
    names = re.findall(r"\b(?:rows|values)_stride(\d)", text)
    assert set(map(int, names)) == passed
    if types == ROWS:
        assert "a_stride" not in text


@pytest.mark.parametrize(
    "k", [*(case[0] for case in CASES), reshaped, recursive], ids=lambda k: k.name
)
def test_results_are_equal(k, target: str) -> None:
    a = np.random.default_rng(3).integers(-9, 9, (6, 8)).astype(np.float32)
    for matrix in (a, a[:, ::-1], np.repeat(a, 2, 1)[:, ::2]):
        if k in (reshaped, three_axes) and not matrix.flags.c_contiguous:
            continue
        arguments = matrix, np.zeros(8, np.float32)
        for got, expected in zip(
            run(k, (1, 1), arguments, target), run(k, (1, 1), arguments, "python")
        ):
            np.testing.assert_array_equal(got, expected)


@kernel
def cubes(a, out):
    i = cuda.grid(1)
    out[i] = weighted(a[i, :, 1:], 1) + weighted(a[:, 1], 1) + steps(a[:, 1, 2], 1)


def test_strides_of_an_array_with_three_axes(target: str) -> None:
    arguments = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.zeros(1, np.float32)
    for got, expected in zip(
        run(cubes, (1, 1), arguments, target), run(cubes, (1, 1), arguments, "python")
    ):
        np.testing.assert_array_equal(got, expected)
    assert "a_stride" not in cubes.inspect("cuda", "float32[:, :, ::1], float32[::1]")


PAIRS = np.dtype([("corners", np.float32, (3, 4)), ("weight", np.float32)])


@kernel
def fields(pairs, out):
    i = cuda.grid(1)
    out[i] = weighted(pairs[i]["corners"][:, 1:], i) + steps(pairs["weight"], 1)


def test_strides_inside_and_between_records(target: str) -> None:
    pairs = np.zeros(3, PAIRS)
    pairs["corners"] = np.arange(36).reshape(3, 3, 4)
    pairs["weight"] = [1, 5, 9]
    arguments = pairs, np.zeros(3, np.float32)
    for got, expected in zip(
        run(fields, (1, 3), arguments, target), run(fields, (1, 3), arguments, "python")
    ):
        np.testing.assert_array_equal(got, expected)

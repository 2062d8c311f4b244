"""insert_strip_prefetches: prefetch strip by strip in loops that read several rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, float64, int32, kernel, uint8
from support.launching import run


@kernel(block=(32, 4))
def cross(out, a):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@kernel(block=(32, 4))
def in_place(a):
    """Odd rows from the even ones around them."""
    j, i = cuda.grid(2)
    row = 2 * i + 1
    if row + 1 < a.shape[0] and j < a.shape[1]:
        a[row, j] = a[row - 1, j] - a[row + 1, j]


@kernel(block=(32, 4))
def by_name(out, a):
    """The places have names."""
    j, i = cuda.grid(2)
    if i < a.shape[0] - 1 and j < a.shape[1] - 3:
        below = i + 1
        right = j + 3
        if a[i, right] > 2:
            out[i, j] = a[below, right]


@kernel(block=(32, 4))
def one_row(out, a):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = 2 * a[i, j]


@kernel(block=(32, 4))
def columns(out, a):
    """No walk: neighbours read what is a row apart."""
    j, i = cuda.grid(2)
    if i < a.shape[1] and j < a.shape[0] - 1:
        out[j, i] = a[j, i] + a[j + 1, 0]


@kernel(block=(32, 4))
def sums(out, a):
    """Each thread does much: it does not wait for memory."""
    j, i = cuda.grid(2)
    if i < a.shape[0] - 1 and j < a.shape[1]:
        total = a[i, j] + a[i + 1, j]
        for k in range(5):
            total += k * total
        out[i, j] = total


@kernel(block=(32, 4))
def by_table(out, a, rows, pieces):
    """Only some threads come to where the table is read, and to the division."""
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        if j < a.shape[1] - 1 and pieces > 0:
            out[i, j] = a[rows[i], j] + a[i // pieces, j] + a[i % pieces, j]


STENCILS = (cross, by_name)
OTHERS = (one_row, columns, sums)


def asked(made: Any, *arrays: Any) -> list[str]:
    text = made.inspect("c", arrays)
    return [line.strip() for line in text.splitlines() if line.strip().startswith("prefetch_")]


@pytest.mark.parametrize(
    ("element", "strip"), [(uint8, 256), (float32, 64), (float64, 32)], ids=str
)
def test_each_row_is_prefetched_once(element: Any, strip: int) -> None:
    lines = asked(cross, element[:, ::1], element[:, ::1])
    assert len(lines) == 4
    assert all(line.endswith(f"j_first], {8 * strip}LL, {strip}LL);") for line in lines)
    assert [line.startswith("prefetch_to_write_") for line in lines] == [False] * 3 + [True]


def test_aliases_of_arrays_are_resolved() -> None:
    lines = asked(by_name, float32[:, ::1], float32[:, ::1])
    assert [line.partition("&")[2].partition("j_first")[0] for line in lines] == [
        "a[i * a_shape1 + ",
        "a[below * a_shape1 + ",
        "out[i * out_shape1 + ",
    ]


def test_a_row_that_is_read_and_written_is_prefetched_for_writing() -> None:
    lines = asked(in_place, float32[:, ::1])
    assert [line.partition("(")[0] for line in lines].count("prefetch_to_write_f32") == 1
    assert len(lines) == 3


def test_prefetch_addresses_read_no_index_table() -> None:
    lines = asked(by_table, float32[:, ::1], float32[:, ::1], int32[::1], int32)
    assert not [line for line in lines if "rows" in line or "pieces" in line]


def test_threads_without_an_element_read_no_index_table() -> None:
    a = np.ones((600, 700), np.float32)
    out = np.zeros_like(a)
    by_table[(22, 150), (32, 4)](out, a, np.empty(1, np.int32), np.int32(0))
    assert not out.any()


def test_small_launches_run_row_by_row() -> None:
    text = cross.inspect("c", (float32[:, ::1], float32[:, ::1]))
    assert "strip = launched < 262144 ? end - " in text


@pytest.mark.parametrize("made", OTHERS, ids=lambda k: k.name)
def test_other_kernels_prefetch_nothing(made: Any) -> None:
    assert not asked(made, float32[:, ::1], float32[:, ::1])


@pytest.mark.parametrize("made", [*STENCILS, *OTHERS], ids=lambda k: k.name)
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (9, 70)])
def test_results_stay(made: Any, shape: tuple[int, int], target: str) -> None:
    a = np.random.default_rng(1).integers(0, 9, shape).astype(np.float32)
    arguments = (np.zeros_like(a), a)
    grid = ((max(shape) + 31) // 32, (max(shape) + 3) // 4)
    expected = run(made, (grid, (32, 4)), arguments, "python")[0]
    assert np.array_equal(run(made, (grid, (32, 4)), arguments, target)[0], expected)


@pytest.mark.parametrize("made", STENCILS, ids=lambda k: k.name)
@pytest.mark.parametrize("shape", [(600, 700), (3, 130_000), (130_000, 5)])
def test_large_launches_prefetch_strips(made: Any, shape: tuple[int, int]) -> None:
    """With so many threads strips are shorter than rows, but for the last of each."""
    a = np.random.default_rng(1).integers(0, 9, shape).astype(np.float32)
    out, expected = np.zeros_like(a), np.zeros_like(a)
    made[((shape[1] + 31) // 32, (shape[0] + 3) // 4), (32, 4)](out, a)
    if made is cross:
        around = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        expected[1:-1, 1:-1] = around
    else:
        right = a[:, 3:]
        expected[:-1, :-3] = np.where(right[:-1] > 2, right[1:], 0)
    assert np.array_equal(out, expected)

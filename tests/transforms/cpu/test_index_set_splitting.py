"""Loops over threads that are split: rows of any width, indices of any sign, int32s that wrap."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, int32, int64, kernel, uint32
from pycu2c.kernels.kernel import Kernel
from support.launching import run

N = 300  # threads that work, of 5 blocks of 64
GRID = (5, 64)


@kernel
def rows(x, out, width, shift):
    i = cuda.grid(1)
    if i < N:
        row = i // width
        column = i % width
        out[0, i] = row
        out[1, i] = column + x[column] * 0 if -N <= column < N else column
        if column > 2:
            out[2, i] = x[i - column] + shift


@kernel
def rows_in_int32(x, out, width, shift):
    i = int32(cuda.grid(1))
    if i < N:
        w = int32(width)
        out[0, i] = (i + int32(shift)) // w
        out[1, i] = (i + int32(shift)) % w
        out[2, i] = x[i % w] if 0 < w < N else i


@kernel
def rows_in_uint32(x, out, width, shift):
    i = uint32(cuda.grid(1))
    if i < N:
        out[0, i] = i // uint32(width)
        out[1, i] = (i + uint32(shift)) % uint32(width)
        out[2, i] = x[(i + uint32(shift)) % uint32(N)]


@kernel
def planes(x, out, width, shift):
    i = cuda.grid(1)
    if i < N:
        plane = i // (width * width)
        rest = i - plane * (width * width)
        out[0, i] = plane
        out[1, i] = rest // width
        out[2, i] = (i // width) % 5 + rest % width


@kernel
def from_either_end(x, out, width, shift):
    i = cuda.grid(1)
    if i < N:
        if -N <= i - shift < N:
            out[0, i] = x[i - shift]
        at = int32(i) * int32(1) + int32(shift)
        if -N <= at < N:
            out[1, i] = x[at]
        out[2, at % N] = i


@kernel
def wrapping(x, out, width, shift):
    i = cuda.grid(1)
    if i < N:
        at = int32(i) + int32(2**31 - 100)
        out[0, i] = int64(at)
        out[1, i] = at // int32(width)
        out[2, i] = int64(at % int32(width)) + int64(uint32(i) - uint32(100))


@kernel
def by_constants(x, out, width, shift):
    i = cuda.grid(1)
    if i < N:
        out[0, i] = i // 70
        out[1, i] = x[i % 70]
        out[2, i] = (i // 70) * 70 + i % 70 - i % 3 + x[i // 8]


KERNELS = [rows, rows_in_int32, rows_in_uint32, planes, from_either_end, wrapping, by_constants]


def data() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(N, dtype=np.int64) * 3 + 1, np.zeros((3, N), np.int64)


@pytest.mark.parametrize("width", [1, 7, 64, 299, 10**6, 0, -7, -(2**31)])
@pytest.mark.parametrize("tested", KERNELS, ids=lambda k: k.__name__)
def test_results_are_those_of_the_reference(tested: Kernel, width: int, target: str) -> None:
    for shift in (5, -70):
        arguments = *data(), width, shift
        expected = run(tested, GRID, arguments, "python")[1]
        np.testing.assert_array_equal(run(tested, GRID, arguments, target)[1], expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("width", [-3, 0, 1, 60])
def test_parameters_of_either_type(dtype: Any, width: int, target: str) -> None:
    for tested in (rows, planes, from_either_end):
        arguments = *data(), dtype(width), dtype(-40)
        expected = run(tested, GRID, arguments, "python")[1]
        np.testing.assert_array_equal(run(tested, GRID, arguments, target)[1], expected)


@kernel
def far(out, shift):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (i + shift) // 100


@pytest.mark.parametrize("shift", [2**63 - 1, 2**63 - 3, -(2**63), -(2**63) + 1])
def test_dividends_at_the_limits_of_int64(shift: int, target: str) -> None:
    """A part of the loop always has a thread: it would never end."""
    with np.errstate(over="ignore"):
        expected = (np.arange(N) + np.int64(shift)) // 100
    result = run(far, GRID, (np.zeros(N, np.int64), np.int64(shift)), target)[0]
    np.testing.assert_array_equal(result, expected)


@kernel
def stencil(u, out, width, height):
    at = cuda.grid(1)
    if at < width * height:
        i = at // width
        j = at % width
        if 0 < i < height - 1 and 0 < j < width - 1:
            out[at] = u[at - 1] + u[at + 1] + u[at - width] + u[at + width]


def test_a_stencil_on_a_flat_array_has_no_divisions_in_its_loop() -> None:
    u, width, height = np.random.default_rng(1).random(48 * 33, np.float32), 48, 33
    out = run(stencil, (26, 64), (u, np.zeros_like(u), width, height), "cpu")[1]
    inner = u.reshape(height, width)
    expected = np.zeros_like(inner)
    expected[1:-1, 1:-1] = inner[1:-1, :-2] + inner[1:-1, 2:] + inner[:-2, 1:-1] + inner[2:, 1:-1]
    np.testing.assert_allclose(out.reshape(height, width), expected, rtol=1e-6)
    text = stencil.inspect("c", (float32[::1], float32[::1], int, int))
    loop = text[text.index("#pragma omp simd") :]
    assert "div" not in loop
    assert "mod" not in loop
    assert "< 0 ?" not in loop


@kernel(block=(8, 8))
def doubled_tiles(x, out):
    tile = cuda.shared.array((16, 8), float32)
    rank, column = cuda.threadIdx.y * 8 + cuda.threadIdx.x, cuda.blockIdx.x * 8
    for i in range(rank, 128, 64):
        tile[i // 8, i % 8] = x[i // 8, column + i % 8]
    cuda.syncthreads()
    for i in range(rank, 128, 64):
        out[i // 8, column + i % 8] = 2 * tile[i // 8, i % 8]


def test_copies_of_narrow_tiles_have_no_divisions_in_their_loops(target: str) -> None:
    x = np.random.default_rng(1).random((16, 24), np.float32)
    out = run(doubled_tiles, (3, (8, 8)), (x, np.zeros_like(x)), target)[1]
    np.testing.assert_array_equal(out, 2 * x)
    text = doubled_tiles.inspect("c", (float32[:, ::1], float32[:, ::1]))
    loops = re.findall(r"#pragma omp simd\n( *)(for .*?)\n\1}", text, re.DOTALL)
    assert len(loops) == 2
    assert not any("/" in loop or "%" in loop for _, loop in loops)

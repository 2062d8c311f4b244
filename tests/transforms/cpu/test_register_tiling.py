"""Loops that are moved around tiles of threads: which, and that results are equal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pycu2c import cuda, device, float32, float64, kernel
from support.launching import run

M = float32[:, ::1]
TILED = "_first += "


@kernel(fmad=False)
def product(c, a, b):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@kernel(fmad=False)
def of_columns(c, a, b):
    """Two sums, one of them weak, what is kept, and what is done after the loop."""
    j = cuda.grid(1)
    if j < c.shape[1]:
        scale = b[0, j]
        least = 1e9
        found = -1
        for k in range(1, a.shape[0]):
            here = a[k, j] * scale
            if here < least:
                least = here
                found = k
        c[0, j] = least
        for n in range(c.shape[0] - 1):
            c[n + 1, j] = found + n


@kernel(fmad=False)
def window(c, a, b):
    j, i = cuda.grid(2)
    row = i * 2
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0)
        for p in range(b.shape[0]):
            down = row + p
            for q in range(b.shape[1]):
                total += a[down % a.shape[0], j + q] * b[p, q]
        c[i, j] = total


@kernel(fmad=False)
def in_blocks(c, a, b):
    tile = cuda.shared.array((24, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[tx, ty] = b[tx, ty]
    cuda.syncthreads()
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * tile[k % 24, ty] + b[k % b.shape[0], j]
        c[i, j] = total


@kernel(fmad=False)
def triangle(c, a, b):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0)
        for k in range(i):
            total += b[k, j]
        c[i, j] = total


@kernel(fmad=False)
def along_rows(c, a, b):
    i = cuda.grid(1)
    if i < c.shape[0]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k]
        c[i, 0] = total


@kernel(fmad=False)
def left_early(c, a, b):
    j = cuda.grid(1)
    if j < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[0]):
            total += a[k, j]
            if total > 3:
                break
        c[0, j] = total


@kernel(fmad=False)
def few_rounds(c, a, b):
    j = cuda.grid(1)
    if j < c.shape[1]:
        total = float32(0)
        for k in range(3):
            total += a[k, j]
        c[0, j] = total


@kernel(fmad=False)
def of_a_sum_before(c, a, b):
    """What was computed of a sum before the loop stays what it was."""
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(j)
        base = total * 2
        for k in range(a.shape[1]):
            total += a[i % 24, k] * b[k, j] + base
        c[i, j] = total + base


@kernel(fmad=False)
def sums_in_sums(c, a, b):
    """What is set between the loops changes in the inner one."""
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0)
        for k in range(2):
            part = float32(k)
            for m in range(b.shape[0]):
                part += a[i % 24, k] * b[m, j]
                total += part
        c[i, j] = total


@kernel(fmad=False)
def of_a_sum_between(c, a, b):
    """What is computed of a sum between the loops stays what it was in the inner one."""
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0)
        for k in range(2):
            begun = total / 64
            for m in range(b.shape[0]):
                total += begun + a[i % 24, k] * b[m, j]
        c[i, j] = total


@kernel(fmad=False)
def iterated(c, a, b):
    """What each round makes of the one before, of two things."""
    j = cuda.grid(1)
    if j < c.shape[1]:
        x = a[0, j]
        y = x * 3
        for _ in range(a.shape[0]):
            x = x * (1 - x) * 3.5
            y = y * 0.5 + x
        c[0, j] = y


@kernel(fmad=False)
def iterated_under_conditions(c, a, b):
    """What is set in one branch or another, and read after that in the same round."""
    j = cuda.grid(1)
    if j < c.shape[1]:
        x = a[0, j]
        y = x
        count = 0
        for _ in range(a.shape[0]):
            if x > 0.5:
                y = y * 0.5 + x
                if y > 0.75:
                    count += 1
            else:
                x = x + y * 0.25
            x = x * (1 - x) * 3.5 + y * 0.01
        c[0, j] = y + count


@kernel(fmad=False)
def generator(c, a, b):
    j = cuda.grid(1)
    if j < c.shape[1]:
        state = np.uint32(j)
        inside = 0
        for _ in range(2):
            for _ in range(a.shape[0]):
                state = state * 1664525 + 1013904223
                if state > 1_000_000_000:
                    inside += 1
        c[0, j] = inside


@device
def grown(x, rate):
    change = x * (1 - x)
    return rate * change


@kernel(fmad=False)
def by_a_small_function(c, a, b):
    j = cuda.grid(1)
    if j < c.shape[1]:
        x = a[0, j]
        for _ in range(a.shape[0]):
            x = grown(x, 3.5) if x > 0.5 else grown(x, x + 3)
        c[0, j] = x


@kernel(fmad=False)
def by_a_library(c, a, b):
    j = cuda.grid(1)
    if j < c.shape[1]:
        x = a[0, j]
        for _ in range(a.shape[0]):
            x = math.tan(x) * 0.5
        c[0, j] = x


KERNELS = [
    product,
    of_columns,
    window,
    in_blocks,
    triangle,
    along_rows,
    left_early,
    few_rounds,
    of_a_sum_before,
    sums_in_sums,
    of_a_sum_between,
    iterated,
    iterated_under_conditions,
    generator,
    by_a_small_function,
]
COMPUTING = (iterated, iterated_under_conditions, generator, by_a_small_function)
ALONG_A_LINE = (of_columns, along_rows, left_early, few_rounds, *COMPUTING)
WIDE = (window, *ALONG_A_LINE)  # they read columns of `a` beside each other


@pytest.mark.parametrize("shape", [(1, 1), (4, 64), (9, 70)], ids=str)
@pytest.mark.parametrize("k", KERNELS, ids=lambda k: k.name)
def test_the_results_are_the_same(k, shape) -> None:
    rng = np.random.default_rng(3)
    depth = 100 if k in WIDE else 30
    a = rng.random((24, depth), np.float32)
    b = rng.random((2, 3) if k is window else (depth, 100), np.float32)
    c = np.zeros(shape, np.float32)
    block = (24, 8) if k is in_blocks else (4, 16)
    extents = shape[::-1] if k is window else shape
    grid = tuple(-(-extent // size) for extent, size in zip(extents, block))
    launch = (5, 16) if k in ALONG_A_LINE else (grid, block)
    expected = run(k, launch, (c, a, b), "python")[0]
    assert np.array_equal(run(k, launch, (c, a, b), "cpu")[0], expected)


@pytest.mark.parametrize("k", [product, of_columns, window, in_blocks], ids=lambda k: k.name)
def test_those_that_read_side_by_side(k) -> None:
    assert TILED in k.inspect("c", (M, M, M), (24, 8))


@pytest.mark.parametrize("k", COMPUTING, ids=lambda k: k.name)
def test_those_that_do_nothing_but_compute(k) -> None:
    assert TILED in k.inspect("c", (M, M, M), 64)


def test_rows_that_differ_are_tiled_one_by_one() -> None:
    text = triangle.inspect("c", (M, M, M), (16, 16))
    assert "j_first += 64" in text
    assert "i_first" not in text


@pytest.mark.parametrize(
    "k", [along_rows, left_early, few_rounds, by_a_library], ids=lambda k: k.name
)
def test_loops_that_do_not_pay_or_have_exits(k) -> None:
    assert TILED not in k.inspect("c", (M, M, M), 64)


def test_wide_numbers_make_narrow_tiles() -> None:
    wide = float64[:, ::1]
    assert "j_first += 32" in product.inspect("c", (wide, wide, wide), (16, 16))


def test_a_variable_has_one_value_where_products_and_sums_are_contracted() -> None:
    """``w`` is read in the tile's loop and behind it."""

    @kernel(backend="cpu")
    def k(same, products, b, a, c):
        x = cuda.grid(1)
        if x >= same.shape[0]:
            return
        f = float32(x) + float32(0.3)
        w = a * f + c
        least = w
        for i in range(b.shape[0]):
            least = min(least, w + b[i, x])
        same[x] = least == w
        products[x] = a * f

    same, products = np.zeros(500, np.int32), np.zeros(500, np.float32)
    k[2, 256](same, products, np.zeros((9, 500), np.float32), np.float32(0.1), np.float32(-0.7))
    assert same.all()

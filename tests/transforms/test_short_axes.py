"""Kernels are compiled for the length of a short last axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, kernel
from pycu2c.base.limits import MAX_SHORT_AXIS
from pycu2c.transforms.common.fix_short_axes import short_axis_candidates


def row_sums_for(target: str) -> Any:
    @kernel(backend=target)
    def row_sums(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            total = float32(0)
            for j in range(x.shape[1]):
                total += x[i, j]
            out[i] = total + 100 * x[i, x.shape[1] - 1]

    return row_sums


def rows(columns: int, count: int = 50) -> np.ndarray:
    return np.arange(count * columns, dtype=np.float32).reshape(count, columns)


def specializations(launched: Any) -> list[tuple[tuple[int, int, int], ...]]:
    (typed,) = launched.launcher._typed.values()
    return [key.assumptions.short_axes for key in typed.runners]


def test_lengths_alternate(target: str) -> None:
    """The dispatch table must not take code for another length."""
    row_sums = row_sums_for(target)
    for columns in (3, 4, 40, 1, 16, 17) * 4:
        x = rows(columns)
        out = np.zeros(len(x), np.float32)
        row_sums[1, 64](x, out)
        assert (out == x.sum(axis=1) + 100 * x[:, -1]).all()


def test_short_axes_are_constants() -> None:
    row_sums = row_sums_for("cpu")
    for columns in (3, 3, MAX_SHORT_AXIS, MAX_SHORT_AXIS + 1, 1):
        row_sums[1, 64](rows(columns), np.zeros(50, np.float32))
    assert specializations(row_sums) == [((0, 1, 3),), ((0, 1, MAX_SHORT_AXIS),), ()]
    (typed,) = row_sums.launcher._typed.values()
    first, *_ = typed.runners.values()
    text = first.kernel.binary.text
    assert "j < 3;" in text
    assert "x_shape1" not in text


def test_many_lengths_share_a_kernel() -> None:
    row_sums = row_sums_for("cpu")
    for columns in (*range(2, MAX_SHORT_AXIS + 1), *range(2, MAX_SHORT_AXIS + 1)):
        for block in (32, 64):
            x = rows(columns)
            out = np.zeros(50, np.float32)
            row_sums[2, block](x, out)
            assert (out == x.sum(axis=1) + 100 * x[:, -1]).all()
    assert len(specializations(row_sums)) <= 17


def candidates(function: Any, *arrays: np.ndarray) -> tuple[tuple[int, int], ...]:
    launcher = kernel(function).launcher
    signature = launcher.signature(launcher.flatten(arrays))
    return short_axis_candidates(launcher.compiler.build(signature).module)


def by_color(image, out):
    i, j = cuda.grid(2)
    out[i, j] = image[i, j, 0] + image[i, j, 2]


def by_position(image, out):
    i, j = cuda.grid(2)
    out[i, j] = image[0, i, j]


def by_loop(image, out):
    i = cuda.grid(1)
    for c in range(image.shape[2]):
        out[i, 0] += image[i, 0, c]


@pytest.mark.parametrize(
    ("function", "expected"),
    [(by_color, ((0, 2),)), (by_position, ()), (by_loop, ((0, 2), (1, 1)))],
)
def test_candidates_have_an_index_that_is_no_thread(function: Any, expected: object) -> None:
    image = np.zeros((4, 5, 3), np.float32)
    assert candidates(function, image, np.zeros((4, 5), np.float32)) == expected


def test_arrays_with_gaps_are_no_candidates() -> None:
    image = np.zeros((4, 5, 6), np.float32)[:, :, ::2]
    assert candidates(by_color, image, np.zeros((4, 5), np.float32)) == ()


def test_a_device_function_gets_the_length() -> None:
    from pycu2c import device

    @device
    def last(x, i):
        return x[i, x.shape[1] - 1] + x[i, 0]

    @kernel(backend="cpu")
    def k(x, out):
        i = cuda.grid(1)
        out[i] = last(x, i) + x[i, 1]

    for columns in (2, 5, 30, 2, 5):
        x, out = rows(columns), np.zeros(50, np.float32)
        k[1, 50](x, out)
        assert (out == x[:, -1] + x[:, 0] + x[:, 1]).all()

"""Indices of every integer type, where C would convert them in its own way."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, kernel
from support.launching import run


@kernel
def narrow(data, out):
    i = cuda.grid(1)
    out[i] = data[np.uint8(i * 3)] + data[np.int8(i) % 7]


@kernel
def signed(data, out):
    i = cuda.grid(1)
    if i < out.size:
        j = np.int8(i)
        out[i] = data[j]


@kernel
def wrapped(data, steps, out):
    i = cuda.grid(1)
    out[i] = data[steps[i] * 1000003 + 5 - steps[i] * 1000003]


@kernel
def blocks(out):
    out[cuda.blockIdx.x] = cuda.blockIdx.x + cuda.threadIdx.x


def test_narrow_types_cut_an_index(target):
    data = np.arange(256, dtype=np.int32)
    result = run(narrow, (8, 16), [data, np.zeros(128, np.int32)], target)[1]
    i = np.arange(128)
    np.testing.assert_array_equal(result, i * 3 % 256 + i % 7)


def test_an_index_that_wraps_below_zero_counts_from_the_end(target):
    data = np.arange(300, dtype=np.int32)
    result = run(signed, (8, 40), [data, np.zeros(300, np.int32)], target)[1]
    np.testing.assert_array_equal(result, data[np.arange(300).astype(np.int8)])


def test_an_index_that_wraps(target):
    data = np.arange(10, dtype=np.int32)
    steps = np.array([1, -1, 3000, -3000], np.int32)
    result = run(wrapped, (1, 4), [data, steps, np.zeros(4, np.int32)], target)[2]
    np.testing.assert_array_equal(result, 5)


def test_negative_strides(target):
    out = np.zeros(6, np.int32)[::-1]
    np.testing.assert_array_equal(run(blocks, (6, 1), [out], target)[0], np.arange(6))


@kernel
def collected(points, chosen, out):
    i = cuda.grid(1)
    j = chosen[i]
    out[i] = points[j, 0] + points[j, 1] * points[j, 2]
    if out[i] > 100:
        points[j, 0] = 0


@kernel
def shifted(data, by, out):
    i = cuda.grid(1)
    if by < 5:
        k = by * 2
    for _ in range(2):
        out[i] += data[by] + data[k] + data[k] * data[by]


def test_an_index_of_either_sign_is_counted_from_the_end(target):
    points = np.arange(30, dtype=np.int32).reshape(10, 3)
    chosen = np.array([1, -1, -10, 8, 0], np.int32)
    arguments = [points, chosen, np.zeros(5, np.int32)]
    x, y, z = points[chosen].T
    np.testing.assert_array_equal(run(collected, (1, 5), arguments, target)[2], x + y * z)


@pytest.mark.filterwarnings("ignore::pycu2c.base.diagnostics.CompileWarning")
@pytest.mark.parametrize("by", [2, -3, 5])
def test_arguments_and_variables_that_may_have_no_value_are_counted_too(target, by):
    data = np.arange(1, 11, dtype=np.int32)
    k = by * 2 if by < 5 else 0
    expected = 2 * (data[by] + data[k] + data[k] * data[by])
    result = run(shifted, (1, 1), [data, by, np.zeros(1, np.int32)], target)[2]
    assert result[0] == expected


@kernel
def clamped(data, lengths, out):
    i = cuda.grid(1)
    out[i] = data[min(i, len(lengths) - 1)]


def test_the_last_place_of_an_empty_array_is_the_end_of_another(target):
    data = np.arange(10, dtype=np.int32)
    for length, expected in ((0, [9, 9, 9]), (2, [0, 1, 1])):
        arguments = [data, np.zeros(length, np.int32), np.zeros(3, np.int32)]
        assert run(clamped, (1, 3), arguments, target)[2].tolist() == expected


@kernel
def in_far_steps(data, steps, out):
    """So far that the end and a step together are beyond 64 bits."""
    i = cuda.grid(1)
    part, tail = data[:: steps[i]], data[7 : -20 : steps[i]]
    for v in part:
        out[i] = out[i] * 3 + v
    for v in tail:
        out[i] = out[i] * 5 + v
    out[i] += len(part) * 1000000 + len(tail) * 10000
    for v in data[7 :: -(2**63)]:
        out[i] += v * 7
    for v in data[2 :: 2**63 - 1]:
        out[i] += v * 11


def test_a_slice_in_steps_of_any_length(target):
    data = np.arange(1, 10)
    steps = np.array([1, 3, 8, 9, 2**62, 2**63 - 2, 2**63 - 1], np.int64)
    steps = np.concatenate([steps, -steps, [-(2**63)]])
    expected = []
    for step in steps.tolist():
        part, tail = data[::step].tolist(), data[7:-20:step].tolist()
        total = 0
        for v in part:
            total = total * 3 + v
        for v in tail:
            total = total * 5 + v
        total += len(part) * 1000000 + len(tail) * 10000
        expected.append(total + int(data[7]) * 7 + int(data[2]) * 11)
    out = np.zeros(len(steps), np.int64)
    result = run(in_far_steps, (len(steps), 1), [data, steps, out], target)[2]
    assert result.tolist() == expected

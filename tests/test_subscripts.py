"""Indices of every integer type, where C would convert them in its own way."""

from __future__ import annotations

import numpy as np

from launching import run
from pycu2c import cuda, kernel


@kernel
def narrow(data, out):
    i = cuda.grid(1)
    out[i] = data[np.uint8(i * 3)] + data[np.int8(i) % 7]


@kernel
def wrapped(data, steps, out):
    i = cuda.grid(1)
    out[i] = data[steps[i] * 1000003 + 5 - steps[i] * 1000003]


@kernel
def blocks(out):
    out[cuda.blockIdx.x] = cuda.blockIdx.x + cuda.threadIdx.x


def test_narrow_types_cut_an_index(target):
    data = np.arange(256, dtype=np.int32)
    found = run(narrow, (8, 16), [data, np.zeros(128, np.int32)], target)[1]
    i = np.arange(128)
    np.testing.assert_array_equal(found, i * 3 % 256 + i % 7)


def test_an_index_that_wraps(target):
    data = np.arange(10, dtype=np.int32)
    steps = np.array([1, -1, 3000, -3000], np.int32)
    found = run(wrapped, (1, 4), [data, steps, np.zeros(4, np.int32)], target)[2]
    np.testing.assert_array_equal(found, 5)


def test_negative_strides(target):
    out = np.zeros(6, np.int32)[::-1]
    np.testing.assert_array_equal(run(blocks, (6, 1), [out], target)[0], np.arange(6))

"""Kernels are pickled and copied as functions are: by name."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from pycu2c import cuda, device, kernel


@device
def doubled(x):
    return 2 * x


@kernel(backend="cpu")
def double(a):
    i = cuda.grid(1)
    if i < len(a):
        a[i] = doubled(a[i])


class Steps:
    @staticmethod
    @kernel
    def first(a):
        a[0] = 1


@pytest.mark.parametrize("known", [double, doubled, Steps.first])
def test_by_name(known):
    assert pickle.loads(pickle.dumps(known)) is known
    assert copy.copy(known) is known
    assert copy.deepcopy({"k": known}) == {"k": known}


def test_after_launches():
    a = np.ones(3)
    for _ in range(5):  # by the dispatch table in the end
        double[1, 32](a)
    assert pickle.loads(pickle.dumps(double)) is double


def test_one_that_has_no_name():
    @kernel
    def inner(a):
        a[0] = 1

    with pytest.raises((pickle.PicklingError, AttributeError), match="inner"):
        pickle.dumps(inner)


def test_with_its_grid():
    configured = double[4, (16, 2)]
    assert repr(configured) == "<kernel double, grid (4, 1, 1), block (16, 2, 1)>"
    launch = double.prepare("float64[::1]", 1, 32, stream=0)
    assert repr(launch) == "<kernel double, grid (1, 1, 1), block (32, 1, 1), stream 0>"

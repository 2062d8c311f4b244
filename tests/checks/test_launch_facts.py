"""Launches with other facts: each has the checks that it needs."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import CheckError, cuda, kernel
from pycu2c.checks import instrumentation
from pycu2c.kernels import specialization
from support.targets import TARGETS

COMPILED = [t for t in TARGETS if t != "python"]


def ones(a, count):
    i = cuda.grid(1)
    if i < count:
        a[i] = 1


@pytest.mark.parametrize("number", [int, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("backend", COMPILED)
def test_another_number(number: type, backend: str) -> None:
    checked = kernel(ones, backend=backend, check="memory")
    memory = np.zeros(100, np.int32)
    checked[2, 64](memory[:64], number(64))
    with pytest.raises(CheckError, match="index 64 is out of bounds"):
        checked[2, 64](memory[:64], number(90))
    assert memory.tolist() == [1] * 64 + [0] * 36


def put(a, at, m):
    t = cuda.threadIdx.x
    a[at[t], t + m] = 1


@pytest.mark.parametrize("backend", COMPILED)
def test_another_axis_may_be_out_of_bounds(backend: str) -> None:
    checked = kernel(put, backend=backend, check="memory")
    memory, at = np.zeros((8, 8), np.int32), np.full(8, 3)
    checked[1, 8](memory[:4], at, 0)
    with pytest.raises(CheckError, match="index 8 is out of bounds for axis 1 of `a` with size 8"):
        checked[1, 8](memory[:4], at, 1)
    assert memory[4:].sum() == 0
    at[:] = 4
    with pytest.raises(CheckError, match="index 4 is out of bounds"):
        checked[1, 8](memory[:4], at, 0)


def count_up(a, step, shift):
    i = cuda.grid(1)
    if i < a.size and step % 2 == 0:
        a[i + shift] += step


@pytest.mark.parametrize("backend", COMPILED)
def test_a_counter_needs_no_instrumentation_for_each_value(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instrument, calls = instrumentation.instrument, []

    def counted(*arguments):
        calls.append(arguments)
        return instrument(*arguments)

    monkeypatch.setattr(instrumentation, "instrument", counted)
    checked = kernel(count_up, backend=backend, check=True)
    memory = np.zeros(128, np.int64)
    for step in range(1000):
        checked[2, 32](memory[:64], step, 0)
    assert memory[:64].tolist() == [sum(range(0, 1000, 2))] * 64
    assert len(calls) < 20
    for shift in range(1, 20):
        with pytest.raises(CheckError, match="index 64 is out of bounds"):
            checked[2, 32](memory[:64], 2, shift)
    assert not memory[64:].any()


def rotate(a, b, c):
    a[0] = b[0]
    b[0] = c[0]
    c[0] = a[0]


@pytest.mark.parametrize("backend", COMPILED)
def test_the_order_of_arrays_in_memory_needs_no_other_code(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = kernel(rotate, backend=backend, check=True)
    first, second, third = np.zeros((3, 8), np.int32)
    with pytest.raises(CheckError, match="race"):
        checked[1, 32](first, second, third)
    monkeypatch.delattr(specialization, "compile_runner")
    with pytest.raises(CheckError, match="race"):
        checked[1, 32](third, first, second)


def histogram(counts, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


def test_small_arrays_of_counts_are_private_to_os_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    compile_runner = specialization.compile_runner

    def compile_and_note(kernel, key, cache):
        keys.append(key)
        return compile_runner(kernel, key, cache)

    monkeypatch.setattr(specialization, "compile_runner", compile_and_note)
    checked, x = kernel(histogram, backend="cpu", check=True), np.arange(1024) % 16
    counts = np.zeros(16, np.int32)
    checked[4, 256](counts, x)
    assert counts.tolist() == [64] * 16
    assert [key.assumptions.unaliased_accumulators for key in keys] == [(0,)]

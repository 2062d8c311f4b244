"""Reads of a new device array are found, unless something has written it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, cuda, device, kernel
from support.targets import TARGETS

COMPILED = [t for t in TARGETS if t != "python"]


def add(a, out):
    i = cuda.grid(1)
    if i < len(a):
        out[i] += a[i]


def count(a, out):
    if a[cuda.grid(1)] > 3:
        cuda.atomic.add(out, 0, 1)


@device
def sum_of(row):
    total = 0.0
    for x in row:
        total += x
    return total


def sums_of_rows(rows, out):
    i = cuda.grid(1)
    out[i] = sum_of(rows[i])


def write_then_read(a, out):
    i = cuda.grid(1)
    out[i] = a[i]
    out[i] *= 2


def write_then_read_of_others(a, out):
    t = cuda.threadIdx.x
    if t < 7:
        out[t] = a[t]
    cuda.syncthreads()
    a[t] = out[7 - t]


def new_array(backend: str, *shape: int) -> Any:
    return cuda.device_array(shape, device=None if backend == "cuda" else "cpu")


def found(function: Callable[..., Any], backend: str, *arguments: Any) -> list[str]:
    """Return the findings of a launch."""
    return findings_of(kernel(function, backend=backend, check=True), *arguments)


def findings_of(launched: Any, *arguments: Any) -> list[str]:
    try:
        launched[1, 8](*arguments)
    except CheckError as error:
        return [f"{f.kind}: {f.array}" for f in error.findings]
    return []


@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("function", [add, count, write_then_read_of_others])
def test_read_before_the_first_write(function: Callable[..., Any], backend: str) -> None:
    assert found(function, backend, np.arange(8.0), new_array(backend, 8)) == ["uninitialized: out"]


@pytest.mark.parametrize("backend", COMPILED)
def test_read_by_a_device_function(backend: str) -> None:
    assert found(sums_of_rows, backend, new_array(backend, 8, 4), np.zeros(8)) == [
        "uninitialized: row"
    ]


@pytest.mark.parametrize("backend", COMPILED)
def test_one_array_for_two_parameters(backend: str) -> None:
    array = new_array(backend, 8)
    assert found(add, backend, array, array) == ["uninitialized: out", "uninitialized: a"]


@pytest.mark.parametrize("backend", COMPILED)
def test_elements_that_the_kernel_has_written(backend: str) -> None:
    assert not found(write_then_read, backend, np.arange(8.0), new_array(backend, 8))


def fill(array: Any) -> None:
    array[:] = 1


def fill_a_part(array: Any) -> None:
    array[2:] = 1


def copy_to(array: Any) -> None:
    array.copy_to_device(np.ones(8))


def write_by_the_address(array: Any) -> None:
    assert array.device_ctypes_pointer.value


def export(array: Any) -> None:
    assert array.__dlpack__() is not None


def view(array: Any) -> None:
    assert len(array[4:]) == 4


@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("write", [fill, fill_a_part, copy_to, write_by_the_address, export, view])
def test_memory_that_may_have_been_written(write: Callable[[Any], None], backend: str) -> None:
    array = new_array(backend, 8)
    write(array)
    assert not found(add, backend, np.arange(8.0), array)


@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("check", [False, True])
def test_memory_of_an_earlier_launch(backend: str, check: bool) -> None:
    writer: Any = kernel(write_then_read, backend=backend, check=check)
    for _ in range(2):  # unchecked, the second one is a launch by the C extension
        array = new_array(backend, 8)
        writer[1, 8](np.arange(8.0), array)
        assert not found(add, backend, np.arange(8.0), array)


@pytest.mark.parametrize("backend", COMPILED)
def test_new_arrays_of_repeated_launches(backend: str) -> None:
    """Launches from the dispatch table need arrays that have been written."""
    launched: Any = kernel(add, backend=backend, check=True)
    written = cuda.to_device(np.zeros(8), device=None if backend == "cuda" else "cpu")
    for _ in range(4):
        assert not findings_of(launched, np.arange(8.0), written)
        new = new_array(backend, 8)
        assert findings_of(launched, np.arange(8.0), new) == ["uninitialized: out"]
        assert not findings_of(launched, np.arange(8.0), new)

"""Repeated launches with checks: the dispatch table runs them, with checks of the same facts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, cuda, kernel
from pycu2c.kernels.kernel import Kernel
from support.targets import TARGETS

INT = np.int64
DISPATCHED = [t for t in TARGETS if t in ("cpu", "cuda")]
pytestmark = pytest.mark.parametrize("backend", DISPATCHED)


def gather(a, at, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a[at[i]]


def prepared(
    function: Callable[..., None], backend: str, check: Any, grid: int, *arguments: Any
) -> Kernel[...]:
    """Return a kernel whose dispatch table has an entry for a launch."""
    checked = kernel(function, backend=backend, check=check)
    for _ in range(2):
        checked[grid, 8](*arguments)
    assert is_dispatched(checked, grid, *arguments)
    return checked


def is_dispatched(checked: Kernel[...], grid: int, *arguments: Any) -> bool:
    table = checked.launcher.dispatch_table
    return table is not None and table.launch(checked[grid, 8]._configuration, arguments)


def test_findings_of_one_launch(backend: str) -> None:
    a, at, out = np.arange(8), np.arange(8), np.zeros(8, INT)
    checked = prepared(gather, backend, "memory", 1, a, at, out, 8)
    at[2:4] = 8, 9
    for _ in range(2):
        with pytest.raises(CheckError, match=r"index [89] is out of bounds") as caught:
            is_dispatched(checked, 1, a, at, out, 8)
        assert [f.count for f in caught.value.findings] == [2]
    at[:] = 7
    assert is_dispatched(checked, 1, a, at, out, 8)
    assert out.tolist() == [7] * 8


def fill(a, n, m):
    i = cuda.grid(1)
    if i < n:
        a[i + m] = 1


@pytest.mark.parametrize(
    ("grid", "arguments"),
    [
        (2, (np.zeros(8, INT), np.int64(8), 0)),
        (1, (np.zeros(9, INT), np.int64(8), 0)),
        (1, (np.zeros(8, INT), np.int64(9), 0)),
        (1, (np.zeros(8, INT), np.int64(8), 1)),
        (1, (np.zeros(8, INT), 8, 0)),
        (1, (np.zeros(16, INT)[::2], np.int64(8), 0)),
    ],
)
def test_other_facts_are_not_dispatched(
    grid: int, arguments: tuple[Any, ...], backend: str
) -> None:
    checked = prepared(fill, backend, "memory", 1, np.zeros(8, INT), np.int64(8), 0)
    assert not is_dispatched(checked, grid, *arguments)


def test_a_kernel_without_check_sites(backend: str) -> None:
    memory = np.zeros(64, INT)
    checked = prepared(fill, backend, True, 1, np.zeros(8, INT), 8, 0)
    checked[1, 8](memory[:8], 8, 0)
    with pytest.raises(CheckError, match="index 8 is out of bounds"):
        checked[1, 8](memory[:8], 8, 1)
    assert memory.tolist() == [1] * 8 + [0] * 56


def shift(a, b):
    i = cuda.grid(1)
    if i < 8:
        a[i] = b[7 - i]


def test_arrays_that_overlap(backend: str) -> None:
    memory = np.zeros((2, 8), INT)
    checked = prepared(shift, backend, True, 2, np.zeros(8, INT), np.zeros(8, INT))
    for a, b in ((memory[0], memory[0]), (memory[0], memory.ravel()[4:12])):
        assert not is_dispatched(checked, 2, a, b)
        with pytest.raises(CheckError, match="race"):
            checked[2, 8](a, b)
    assert is_dispatched(checked, 2, np.zeros(8, INT), np.zeros(8, INT))


def add_at(a, b, at):
    i = at[cuda.grid(1)]
    a[i] = b[i] + 1


def test_arrays_that_no_longer_overlap(backend: str) -> None:
    """Each has a shadow of its own again."""
    a, b, at = np.zeros(16, INT), np.ones(16, INT), np.arange(16)
    checked = kernel(add_at, backend=backend, check=True)
    for _ in range(3):
        checked[2, 8](a, a, at)
    assert not is_dispatched(checked, 2, a, b, at)
    checked[2, 8](a, b, at)
    assert a.tolist() == [2] * 16


def turns(who, total):
    if cuda.grid(1) == who[0]:
        total[0] += 1


def test_accesses_of_earlier_launches_are_no_races(backend: str) -> None:
    who, total = np.zeros(1, INT), np.zeros(1, INT)
    checked = prepared(turns, backend, True, 2, who, total)
    for thread in range(16):
        who[0] = thread
        assert is_dispatched(checked, 2, who, total)
    assert total[0] == 19


def test_launches_at_once(backend: str) -> None:
    """Each OS thread gets the findings of its own launches."""
    at = np.arange(4096) % 8
    checked = kernel(gather, backend=backend, check=True)
    wrong: list[object] = []

    def launch(bad: int) -> None:
        own, out = at.copy(), np.zeros(4096, INT)
        own[:bad] = 8
        for _ in range(50):
            counts = []
            try:
                checked[512, 8](at[:8], own, out, 4096)
            except CheckError as error:
                counts = [f.count for f in error.findings]
            if counts != [bad] * (bad > 0):
                wrong.append((bad, counts))

    threads = [threading.Thread(target=launch, args=(bad,)) for bad in (0, 1, 0, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []

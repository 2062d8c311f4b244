"""A deadlock is an error that states which threads wait where."""

from __future__ import annotations

import faulthandler
import inspect
import re
from collections.abc import Iterator

import numpy as np
import pytest

from pycu2c import DeadlockError
from pycu2c.kernels.kernel import Kernel
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.runtime.cpu.deadlock_report import WaitingThread, deadlock_error, format_ranges
from support.launching import run
from support.synchronization import deadlocks

KERNELS = [k for k in vars(deadlocks).values() if isinstance(k, Kernel)]
USED = {"in_a_device_function": deadlocks.waited_for}
TARGETS = ["python", "cpu", "cpu-resumable"]


@pytest.fixture
def limited() -> Iterator[None]:
    """Native code in an endless loop takes the process with it, not the day."""
    faulthandler.dump_traceback_later(60, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def marked(kernel: Kernel) -> set[int]:
    """The lines of a kernel, and of the device function that it calls, where threads wait."""
    result = set()
    functions = [kernel.python]
    if kernel.name in USED:
        functions.append(inspect.unwrap(USED[kernel.name]))
    for function in functions:
        lines, first = inspect.getsourcelines(function)
        result |= {n for n, line in enumerate(lines, first) if "# waits" in line}
    return result


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_a_deadlock_names_the_lines(kernel: Kernel, target: str) -> None:
    with pytest.raises(DeadlockError) as caught:
        run(kernel, (2, 32), [np.zeros(64, np.int64)], target)
    text = str(caught.value)
    assert text.startswith(f"{kernel.name} would never end: no thread can make progress\n  block (")
    assert {int(n) for n in re.findall(r"deadlocks\.py:(\d+)$", text, re.M)} == marked(kernel)
    assert "  help: " in text


def test_the_whole_text() -> None:
    shuffle, barrier = REGISTRY["cuda.shfl_sync"], REGISTRY["cuda.syncthreads"]
    waiting = [WaitingThread((0, 0, 0), n, "k.py:7", barrier) for n in (0, 1, 2, 5)]
    waiting.append(WaitingThread((1, 0, 0), 3, "k.py:9", shuffle, 0xFF))
    waiting += [WaitingThread((n, 1, 0), 0, "k.py:7", barrier) for n in range(9)]
    assert str(deadlock_error("k", waiting)).splitlines() == [
        "k would never end: no thread can make progress",
        "  block (0, 0, 0): threads 0-2, 5 wait in cuda.syncthreads, k.py:7",
        "  block (1, 0, 0): thread 3 waits in cuda.shfl_sync with mask 0x000000ff, k.py:9",
        *(f"  block ({n}, 1, 0): thread 0 waits in cuda.syncthreads, k.py:7" for n in range(6)),
        "  and 3 more threads wait",
        "  help: a barrier is passed when each thread of the block has returned or waits in the "
        "same function",
        "  help: a warp operation completes when each lane of the mask has returned or waits in "
        "the same function, with the same mask and type",
    ]


def test_ranges() -> None:
    assert format_ranges([0, 1, 2, 4, 7, 8]) == "0-2, 4, 7-8"

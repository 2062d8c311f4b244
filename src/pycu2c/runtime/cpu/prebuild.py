"""Compiles what all kernels on the CPU share while the first of them is still being compiled."""

from __future__ import annotations

import contextlib
import threading

from pycu2c.runtime.cpu.cpu_kernel import POOL, pool_text
from pycu2c.runtime.plans import library
from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.toolchain_errors import ToolchainError

_FIRST = threading.Lock()  # taken by the first to begin, and kept
_STARTED: list[threading.Thread] = []
_GO = threading.Event()  # Python has time for more than the kernel


def begin(patiently: bool = False) -> None:
    """Once in a process. Who needs a library before it is done waits in ``cc.compile``.

    patiently: what is Python's work, and would hold up the thread that has a kernel to compile, is
    done while that waits for the C compiler; ``go_on`` says that it will not."""
    if not _FIRST.acquire(blocking=False):
        return
    if patiently:
        subprocesses.when_told(_GO.set)
    else:
        _GO.set()
    thread = threading.Thread(target=_compile, name="pycu2c-compile")
    thread.start()
    _STARTED.append(thread)


def go_on() -> None:
    """There is nothing more to wait for."""
    _GO.set()


def goes_on() -> bool:
    """Whether there is something to wait for."""
    return any(thread.is_alive() for thread in _STARTED)


def _compile() -> None:
    with contextlib.suppress(ToolchainError):  # who needs it is told
        cc.compile(pool_text(), POOL)
    _GO.wait()
    library.load()

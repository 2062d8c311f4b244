"""Compile the libraries that all CPU kernels share, while the first kernel is compiled."""

from __future__ import annotations

import contextlib
import threading

from pycu2c.runtime.cpu.cpu_kernel import POOL, pool_text
from pycu2c.runtime.plans import library
from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.toolchain_errors import ToolchainError

_FIRST = threading.Lock()  # acquired by the first call of ``begin``, and never released
_STARTED: list[threading.Thread] = []
_MAY_COMPILE = threading.Event()  # set when this may compete with the kernel for the GIL


def begin(patiently: bool = False) -> None:
    """Start compiling, once per process. ``cc.compile`` waits for a library that is not done.

    patiently: defer the Python part until the main thread waits for the C compiler, because it
    would delay the compilation of the kernel; ``resume`` ends the delay.
    """
    if not _FIRST.acquire(blocking=False):
        return
    if patiently:
        subprocesses.on_input_written(_MAY_COMPILE.set)
    else:
        _MAY_COMPILE.set()
    thread = threading.Thread(target=_compile, name="pycu2c-compile")
    thread.start()
    _STARTED.append(thread)


def resume() -> None:
    """Allow the Python part to run."""
    _MAY_COMPILE.set()


def is_pending() -> bool:
    """Return whether the compilation is still running."""
    return any(thread.is_alive() for thread in _STARTED)


def _compile() -> None:
    with contextlib.suppress(ToolchainError):  # raised again when a kernel needs the library
        cc.compile(pool_text(), POOL)
    _MAY_COMPILE.wait()
    library.load()

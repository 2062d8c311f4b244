"""Compiles what all kernels on the CPU share while the first of them is still being compiled."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_module, newly_imported
from pycu2c.runtime.cpu import pool_text
from pycu2c.toolchain import cc
from pycu2c.toolchain.binary import ToolchainError

if TYPE_CHECKING:
    from pycu2c.runtime.plans import guards, library
else:
    guards = lazy_module("pycu2c.runtime.plans.guards")
    library = lazy_module("pycu2c.runtime.plans.library")

_STARTED: list[threading.Thread] = []


def begin() -> None:
    """Once in a process. Who needs a library before it is done waits in ``cc.compile``."""
    if not _STARTED:
        _STARTED.append(threading.Thread(target=_compile, name="pycu2c-compile"))
        _STARTED[0].start()


def goes_on() -> bool:
    """Whether there is something to wait for."""
    return any(thread.is_alive() for thread in _STARTED)


def _compile() -> None:
    with contextlib.suppress(ToolchainError):  # who needs it is told
        cc.compile(pool_text(), "pycu2c_parallel")
    library.load()
    newly_imported(guards)

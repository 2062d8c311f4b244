"""Compile the libraries that all CPU kernels share, while the first kernel is compiled."""

from __future__ import annotations

import contextlib
import threading

from pycu2c.runtime.cpu.cpu_kernel import POOL, pool_text
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.toolchain_errors import ToolchainError

_FIRST = threading.Lock()  # acquired by the first call of ``begin``, and never released
_STARTED: list[threading.Thread] = []


def begin() -> None:
    """Once in a process. A launch that needs the library before that is done waits in
    ``cc.compile``."""
    if not _FIRST.acquire(blocking=False):
        return
    thread = threading.Thread(target=_compile, name="pycu2c-compile")
    thread.start()
    _STARTED.append(thread)


def _compile() -> None:
    with contextlib.suppress(ToolchainError):  # the launch that needs it raises
        cc.compile(pool_text(), POOL)

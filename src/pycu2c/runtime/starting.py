"""The driver and a context on a GPU, started in a thread of their own: that takes 200 ms, in which
Python imports, and a new kernel is compiled."""

from __future__ import annotations

import contextlib
import functools
import threading

from pycu2c.runtime import driver
from pycu2c.runtime.cuda_errors import CudaError


@functools.cache
def begin() -> bool:
    """Start them where there is a driver. Who needs them waits: for ``driver.available()``, and
    for the context. Errors are told there."""
    if driver.why_no_driver():
        return False
    threading.Thread(target=_start, name="pycu2c-start", daemon=True).start()
    return True


def _start() -> None:
    with contextlib.suppress(CudaError):
        if driver.available() and not driver.several():  # else the launch may want another one
            driver.primary_context(0)

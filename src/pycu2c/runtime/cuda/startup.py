"""The driver and a context on a GPU, started in a thread of their own: that takes 200 ms, in which
Python imports, and a new kernel is compiled.

Through ctypes, so that the thread does without what is being imported. Who needs the driver or the
context asks for it as ever, and the driver lets them wait.
"""

from __future__ import annotations

import ctypes
import functools
import threading

from pycu2c.cuda_driver import libcuda


@functools.cache
def begin() -> bool:
    """Start them where there is a driver. Errors are for those who need them."""
    library = libcuda.library()
    if isinstance(library, str):
        return False
    # no daemon: a process does not end while its driver starts
    threading.Thread(target=_start, args=(library,), name="pycu2c-start").start()
    return True


def _start(library: ctypes.CDLL) -> None:
    if library.cuInit(0):
        return
    count, context = ctypes.c_int(), ctypes.c_void_p()
    library.cuDeviceGetCount(ctypes.byref(count))
    if count.value == 1:  # of several, the launch may want another one than the first
        library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)

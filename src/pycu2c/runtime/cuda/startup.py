"""Start the CUDA driver and a context in a background thread.

Starting takes 200 ms, in which Python imports modules and compiles a kernel. The thread uses
ctypes, to be independent of these imports. Code that needs the driver waits for it in its first
call.
"""

from __future__ import annotations

import ctypes
import functools
import threading

from pycu2c.cuda_driver import libcuda


@functools.cache
def start_driver() -> bool:
    """Start the driver if there is one. Later calls report errors."""
    library = libcuda.library()
    if isinstance(library, str):
        return False
    # not a daemon thread: the process must not end while its driver starts
    threading.Thread(target=_start, args=(library,), name="pycu2c-start").start()
    return True


def _start(library: ctypes.CDLL) -> None:
    if library.cuInit(0):
        return
    count, context = ctypes.c_int(), ctypes.c_void_p()
    library.cuDeviceGetCount(ctypes.byref(count))
    if count.value == 1:  # otherwise the launch may need another device
        library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)

"""Load the CUDA driver's library without ``cuda.bindings``, whose import takes longer."""

from __future__ import annotations

import ctypes
import functools
import os
import sys

from pycu2c.base.backends import gpu_disabled_by

_FILE = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


@functools.cache
def library() -> ctypes.CDLL | str:
    """Return the driver library, or why there is none. (``cuda.bindings`` would take 30 ms.)"""
    reason = gpu_disabled_by()
    if reason:
        return f"there is no CUDA device to use ({reason})"
    try:
        return ctypes.CDLL(_FILE)
    except OSError as error:
        return f"there is no CUDA driver ({error})"


@functools.cache
def address_of(name: str, *, takes_stream: bool = False) -> int:
    """Return the address of a driver function for C code.

    ``takes_stream``: the function takes a stream; its name differs if the bindings use the
    per-thread default stream.
    """
    per_thread = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0") not in ("", "0")
    function = getattr(ctypes.CDLL(_FILE), f"{name}_ptsz" if takes_stream and per_thread else name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0

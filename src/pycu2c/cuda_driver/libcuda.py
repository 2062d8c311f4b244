"""The CUDA driver's library. Light: a launch opens it before it imports anything else."""

from __future__ import annotations

import ctypes
import functools
import os
import sys

from pycu2c.base.backends import hidden_by

_FILE = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


@functools.cache
def library() -> ctypes.CDLL | str:
    """The driver, or why there is none to use. (To find that by the bindings takes 30 ms.)"""
    hidden = hidden_by()
    if hidden:
        return f"there is no CUDA device to use ({hidden})"
    try:
        return ctypes.CDLL(_FILE)
    except OSError as error:
        return f"there is no CUDA driver ({error})"


@functools.cache
def address_of(name: str, *, of_stream: bool = False) -> int:
    """Where a function of the driver lies, for C. Those that take a stream have another name
    where 0 is to be the default stream of each thread, as the bindings are told."""
    own = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0") not in ("", "0")
    function = getattr(ctypes.CDLL(_FILE), f"{name}_ptsz" if of_stream and own else name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0

"""Names of kernels as linkers have them, ``_Z5scalePfi``, as they are written: ``scale``. Knows no
text."""

from __future__ import annotations

import ctypes
import functools

_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1")  # one of them is beside any C++ compiler


@functools.cache
def demangled_name(name: str) -> str | None:
    """``_Z3addIfEvPT_`` -> ``add<float>``; None if it is no such name."""
    whole = _demangled(name) if name.startswith("_Z") else None
    return None if whole is None else _qualified_name(whole)


def _demangled(name: str) -> str | None:
    for library in _LIBRARIES:
        try:
            demangle = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        status = ctypes.c_int()
        made = demangle(name.encode(), None, None, ctypes.byref(status))
        if made is None:
            return None
        found = ctypes.string_at(made).decode()
        ctypes.CDLL(None).free(ctypes.c_void_p(made))
        return found
    return None


def _qualified_name(whole: str) -> str:
    """``void add<float>(float*)`` -> ``add<float>``: what it gives, and what it takes, left out."""
    depth = start = 0
    for place, sign in enumerate(whole):
        if depth == 0 and sign == " ":
            start = place + 1
        if depth == 0 and sign == "(":
            return whole[start:place]
        depth += (sign in "<(") - (sign in ">)")
    return whole[start:]

"""Demangle C++ kernel names: ``_Z5scalePfi`` -> ``scale``."""

from __future__ import annotations

import ctypes
import functools

_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1")  # every C++ compiler installs one of them


@functools.cache
def demangled_name(name: str) -> str | None:
    """Return the name without types, ``_Z3addIfEvPT_`` -> ``add<float>``; None if not mangled."""
    declaration = _demangled(name) if name.startswith("_Z") else None
    return None if declaration is None else _qualified_name(declaration)


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


def _qualified_name(declaration: str) -> str:
    """Strip the return type and the parameters: ``void add<float>(float*)`` -> ``add<float>``."""
    depth = start = 0
    for index, character in enumerate(declaration):
        if depth == 0 and character == " ":
            start = index + 1
        if depth == 0 and character == "(":
            return declaration[start:index]
        depth += (character in "<(") - (character in ">)")
    return declaration[start:]

"""Mangle and demangle C++ names: ``_Z5scalePfi`` <-> ``scale``."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

# one of them is installed with every C++ compiler
_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib")


def mangled_variable(name: str) -> str:
    """Return the symbol of a variable: ``a::b`` -> ``_ZN1a1bE``, and ``b`` -> ``b``."""
    *scopes, last = name.split("::")
    return f"_ZN{_source_names(scopes)}{_source_names([last])}E" if scopes else last


def mangled_function_prefix(name: str) -> str:
    """Return the symbol of a function without its types: ``a::f`` -> ``_ZN1a1f``."""
    *scopes, last = name.split("::")
    return f"_Z{'N' * bool(scopes)}{_source_names(scopes)}{_source_names([last])}"


def _source_names(names: Sequence[str]) -> str:
    return "".join(f"{len(name)}{name}" for name in names)


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
        text = demangle(name.encode(), None, None, ctypes.byref(status))
        if text is None:
            return None
        declaration = ctypes.string_at(text).decode()
        ctypes.CDLL(None).free(ctypes.c_void_p(text))
        return declaration
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

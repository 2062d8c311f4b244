"""Find out whether names that a compiled kernel reads were assigned after it was compiled.

Compiled code contains the values of globals, closure variables and device functions as constants.
The dispatch table compares the objects at each launch by identity (``dispatch_table.c``); a launch
that finds another object takes the slow path, which compares the values.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source, SourceUnavailable, source_of
from pycu2c.kernels.cache_key import CapturedBinding, FingerprintWriter
from pycu2c.ops.names.numba_names import numba_function


class Missing:
    """In place of the value of a name that was deleted."""


@dataclass(slots=True)
class CapturedNames:
    """The names that a kernel and its functions read, with their values when it was compiled."""

    bindings: tuple[CapturedBinding, ...]

    @property
    def compared(self) -> tuple[object, ...]:
        """Owner, name and value of each binding, in one tuple, for the dispatch table."""
        return tuple(part for b in self.bindings for part in (b.owner, b.name, b.value))

    def take_changed(self) -> list[str]:
        """Return the names whose values have changed since the last call, or since compilation."""
        current = tuple(replace(b, value=_current_value(b)) for b in self.bindings)
        if all(new.value is old.value for new, old in zip(current, self.bindings)):
            return []
        changed = [
            old.text for old, new in zip(self.bindings, current) if not _equal(old.value, new.value)
        ]
        self.bindings = current
        return list(dict.fromkeys(changed))


def captured_names(source: Source) -> CapturedNames:
    """Return the names that a function and the functions that it calls read now."""
    writer = FingerprintWriter()
    writer.add_kernel(source)
    return CapturedNames(tuple(writer.bindings))


def _current_value(binding: CapturedBinding) -> object:
    if isinstance(binding.owner, dict):
        return binding.owner.get(binding.name, Missing)
    return getattr(binding.owner, binding.name, Missing)


def _equal(old: Any, new: Any) -> bool:
    """Return whether a kernel that reads either object has the same meaning."""
    if old is new:
        return True
    if isinstance(old, tuple) and type(old) is type(new) and len(old) == len(new):
        return all(map(_equal, old, new))
    if isinstance(old, (np.ndarray, np.generic)) and type(old) is type(new):
        same_type = old.dtype == new.dtype and old.shape == new.shape
        return bool(same_type and old.tobytes() == new.tobytes())
    tree = _tree_of(old)
    if tree is not None:
        return tree == _tree_of(new)
    return type(old) is type(new) and isinstance(old, _NUMBERS) and repr(old) == repr(new)


_NUMBERS = (bool, int, float, complex, str, bytes)


def _tree_of(value: Any) -> str | None:
    """Return the syntax tree of a function that has no closure and no defaults."""
    source = getattr(value, "__pycu2c_device__", None) or numba_function(value) or value
    if isinstance(source, FunctionType):
        try:
            source = source_of(source)
        except SourceUnavailable:
            return None
    if not isinstance(source, Source) or source.python.__closure__ or source.python.__defaults__:
        return None
    return f"{source.python.__module__} {source.signature} {ast.dump(source.tree)}"

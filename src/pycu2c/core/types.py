"""``numba.core.types``: the types of ``pycu2c.types``, by the path that programs import them from."""

from __future__ import annotations

from typing import Any

from pycu2c import types


def __getattr__(name: str) -> Any:
    return getattr(types, name)

"""``numba.core.types``: what ``pycu2c.types`` has, by the path that programs import it from."""

from __future__ import annotations

from typing import Any

from pycu2c.base import types


def __getattr__(name: str) -> Any:
    return getattr(types, name)

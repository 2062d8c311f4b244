"""Export ``numba.core.types``: the names of ``pycu2c.types``."""

from __future__ import annotations

from typing import Any

from pycu2c.base import types


def __getattr__(name: str) -> Any:
    return getattr(types, name)

"""Export ``numba.core.config``: the settings of ``numba.config``."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.numba import config


def __getattr__(name: str) -> Any:
    return getattr(config, name)

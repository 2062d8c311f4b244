"""Modules that are imported on first use."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from types import ModuleType

from pycu2c.base.forks import delaying_forks

IMPORT_TIME = time.time()  # newer files of this package may differ from the imported code


def import_module(name: str) -> ModuleType:
    """Import a module while a program runs: completely, before another thread forks a child."""
    with delaying_forks():
        return importlib.import_module(name)


def lazy_method(module: str, name: str) -> Callable[[object], str]:
    """Return a method that calls a function of a module, which its first call imports."""
    return lambda self: getattr(import_module(module), name)(self)

"""A module that is imported when something of it is first used."""

from __future__ import annotations

import importlib
import time
from types import ModuleType
from typing import Any

STARTED = time.time()  # files of this package that are newer may not be what was imported


class _Lazy(ModuleType):
    """Stands for the module of its name, which Python's import imports once, whichever thread is
    the first to need it."""

    _module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = importlib.import_module(self.__name__)
        return getattr(self._module, name)


def lazy_module(name: str) -> ModuleType:
    """The module ``name``, imported at the first look at an attribute."""
    return _Lazy(name)

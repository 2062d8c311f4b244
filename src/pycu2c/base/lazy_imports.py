"""Modules that are imported on first use."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pycu2c.base.forks import delaying_forks

IMPORT_TIME = time.time()  # newer files of this package may differ from the imported code


class _LazyModule(ModuleType):
    """A proxy of a module that imports it on the first attribute access, from any thread.

    Attributes set on the proxy are set on the module.
    """

    _module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module or self._imported(), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._imported(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._imported(), name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return self._imported().__dict__  # monkeypatch restores attributes through it

    def _imported(self) -> ModuleType:
        module = import_module(self.__name__)
        object.__setattr__(self, "_module", module)
        return module


def import_module(name: str) -> ModuleType:
    """Import a module while a program runs: completely, before another thread forks a child."""
    with delaying_forks():
        return importlib.import_module(name)


def lazy_module(name: str) -> ModuleType:
    """Return a proxy that imports the module ``name`` on the first attribute access."""
    return _LazyModule(name)


def lazy_method(module: str, name: str) -> Callable[[object], str]:
    """Return a method that calls a function of a module, which its first call imports."""
    return lambda self: getattr(import_module(module), name)(self)

"""Modules that are imported on first use."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

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
        module = importlib.import_module(self.__name__)
        object.__setattr__(self, "_module", module)
        return module


def lazy_module(name: str) -> ModuleType:
    """Return a proxy that imports the module ``name`` on the first attribute access."""
    return _LazyModule(name)


def lazy_submodules(package: str) -> Callable[[str], ModuleType]:
    """Return a ``__getattr__`` for a package that makes its submodules lazy.

    ``from package import submodule`` gives a proxy; ``from package.submodule import name`` imports
    at once.
    """

    def get(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(f"module {package} has no attribute {name}", name=name)
        return lazy_module(f"{package}.{name}")

    return get


def lazy_names(module: str, homes: Mapping[str, str], hint: str = "") -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a module that imports names on first access.

    ``homes`` maps each name to its module; the name of a module maps to itself. ``hint`` is
    appended to the error for a missing name.
    """

    def get(name: str) -> Any:
        if name not in homes:
            instead = f": {hint}" if hint and not name.startswith("_") else ""
            raise AttributeError(f"module {module} has no attribute {name}{instead}", name=name)
        home = importlib.import_module(homes[name])
        found = home if home.__name__.endswith(f".{name}") else getattr(home, name)
        setattr(sys.modules[module], name, found)
        return found

    return get


def is_imported(module: ModuleType) -> bool:
    """Return whether a lazy module has been imported."""
    return module.__name__ in sys.modules


def import_now(module: ModuleType) -> bool:
    """Import a lazy module; return whether it was not imported before."""
    if is_imported(module):
        return False
    importlib.import_module(module.__name__)
    return True

"""Modules that are imported when something of them is first used."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

IMPORT_TIME = time.time()  # files of this package that are newer may not be what was imported


class _LazyModule(ModuleType):
    """Stands for the module of its name, which Python's import imports once, whichever thread is
    the first to need it. What is set here is set there."""

    _module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module or self._imported(), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._imported(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._imported(), name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return self._imported().__dict__  # tests put back what they find there

    def _imported(self) -> ModuleType:
        module = importlib.import_module(self.__name__)
        object.__setattr__(self, "_module", module)
        return module


def lazy_module(name: str) -> ModuleType:
    """The module ``name``, imported at the first look at an attribute."""
    return _LazyModule(name)


def lazy_submodules(package: str) -> Callable[[str], ModuleType]:
    """A ``__getattr__`` for a package: in it, ``from package import room`` imports the room at the
    first look at one of its names, and ``from package.room import name`` at once."""

    def get(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(f"module {package} has no attribute {name}", name=name)
        return lazy_module(f"{package}.{name}")

    return get


def lazy_names(module: str, rooms: Mapping[str, str], hint: str = "") -> Callable[[str], Any]:
    """A ``__getattr__`` for a module: names that are imported from their rooms when they are first
    asked for; a room of that name is meant itself. ``hint``: what to do where a name is missing."""

    def get(name: str) -> Any:
        if name not in rooms:
            instead = f": {hint}" if hint and not name.startswith("_") else ""
            raise AttributeError(f"module {module} has no attribute {name}{instead}", name=name)
        room = importlib.import_module(rooms[name])
        found = room if room.__name__.endswith(f".{name}") else getattr(room, name)
        setattr(sys.modules[module], name, found)
        return found

    return get


def is_imported(module: ModuleType) -> bool:
    """Whether a lazy module has been imported, by whomever."""
    return module.__name__ in sys.modules


def import_now(module: ModuleType) -> bool:
    """Import a lazy module; whether that was still to be done."""
    if is_imported(module):
        return False
    importlib.import_module(module.__name__)
    return True

"""The names of CUDA: those inside a kernel, and on the host those of arrays, streams and events.

The former are rows of the registry, the latter objects of several rooms. All are imported when one
is first asked for: a kernel that is known is run without. Type checkers and editors read
``__init__.pyi``, made of the same rows.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pycu2c.intrinsics.host_names import HOST_NAMES, MODULES
from pycu2c.lazy import lazy_module

if TYPE_CHECKING:
    from pycu2c import nearest
    from pycu2c.intrinsics import namespace, numba_names
else:
    nearest = lazy_module("pycu2c.nearest")
    namespace = lazy_module("pycu2c.intrinsics.namespace")
    numba_names = lazy_module("pycu2c.intrinsics.numba_names")


def __dir__() -> list[str]:
    return sorted([*dir(namespace.CUDA), *HOST_NAMES, *MODULES])


def __getattr__(name: str) -> object:
    """Called for names that the module has not got, yet."""
    if name == "__all__":
        return __dir__()
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    room = HOST_NAMES.get(name)
    if room is not None:
        found: object = getattr(importlib.import_module(room), name)
        globals()[name] = found
        return found
    row: object = getattr(namespace.CUDA, name, None)
    if row is not None:
        globals()[name] = row
        return row
    otherwise = "dir(cuda) lists what it has"
    cure = numba_names.CURES.get(name) or nearest.did_you_mean(name, __dir__(), otherwise)
    raise AttributeError(f"pycu2c.cuda has no {name}: {cure}", name=name, obj=namespace.CUDA)

"""The names of CUDA: those inside a kernel, and on the host those of arrays, streams and events.

The former are rows of the registry; the latter are imported when they are first used. Type checkers
and editors read ``cuda.pyi``, made of the same rows.
"""

from __future__ import annotations

import importlib

from pycu2c.intrinsics.host_names import HOST_NAMES
from pycu2c.intrinsics.namespace import CUDA, members
from pycu2c.intrinsics.numba_names import CURES
from pycu2c.nearest import did_you_mean

__all__ = sorted([*members(CUDA), *HOST_NAMES])  # pyright: ignore[reportUnsupportedDunderAll]

globals().update(members(CUDA))


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    room = HOST_NAMES.get(name)
    if room is not None:
        found: object = getattr(importlib.import_module(room), name)
        globals()[name] = found
        return found
    cure = CURES.get(name) or did_you_mean(name, __all__, "dir(cuda) lists what it has")
    raise AttributeError(f"pycu2c.cuda has no {name}: {cure}", name=name, obj=CUDA)

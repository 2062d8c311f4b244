"""The names of CUDA inside a kernel: ``from pycu2c import cuda``.

Each is a row of the registry. Type checkers and editors read ``cuda.pyi``, made of the same rows.
"""

from __future__ import annotations

from pycu2c.intrinsics.namespace import CUDA, members
from pycu2c.intrinsics.numba_names import CURES
from pycu2c.nearest import did_you_mean

__all__ = sorted(members(CUDA))  # pyright: ignore[reportUnsupportedDunderAll]

globals().update(members(CUDA))


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    cure = CURES.get(name) or did_you_mean(name, __all__, "dir(cuda) lists what it has")
    raise AttributeError(f"pycu2c.cuda has no {name}: {cure}", name=name, obj=CUDA)

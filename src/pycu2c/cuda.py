"""The names of CUDA inside a kernel: ``from pycu2c import cuda``.

Each is a row of the registry. Type checkers and editors read ``cuda.pyi``, made of the same rows.
"""

from __future__ import annotations

from pycu2c.intrinsics.namespace import CUDA, members

__all__ = sorted(members(CUDA))  # pyright: ignore[reportUnsupportedDunderAll]

globals().update(members(CUDA))


def __dir__() -> list[str]:
    return __all__

"""CUDA's vector types by name: ``float4``, ``int2``, and numba's other names, ``float32x4``.

Type checkers and editors read ``vector_types.pyi``, made of the same rows.
"""

from __future__ import annotations

from pycu2c.base.dtypes import VECTORS
from pycu2c.base.types import Scalar

__all__ = sorted(VECTORS)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Scalar:
    """Called for types that nobody has asked for yet."""
    if name not in VECTORS:
        raise AttributeError(f"module {__name__} has no attribute {name}", name=name)
    found = globals()[name] = Scalar(VECTORS[name])
    return found

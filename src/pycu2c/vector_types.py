"""CUDA's vector types by name: ``float4``, ``int2``, and numba's other names, ``float32x4``.

Type checkers and editors read ``vector_types.pyi``, made of the same rows.
"""

from __future__ import annotations

from pycu2c.dtypes import VECTORS
from pycu2c.types import Scalar

__all__ = sorted(VECTORS)  # pyright: ignore[reportUnsupportedDunderAll]

globals().update({name: Scalar(row) for name, row in VECTORS.items()})

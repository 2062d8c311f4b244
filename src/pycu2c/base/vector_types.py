"""CUDA's vector types by name: ``float4``, ``int2``, and numba's names, ``float32x4``.

Type checkers and editors read ``vector_types.pyi``, which ``docs/generate.py`` writes from the same
table.
"""

from __future__ import annotations

from pycu2c.base.dtypes import VECTORS
from pycu2c.base.types import Scalar

__all__ = sorted(VECTORS)  # pyright: ignore[reportUnsupportedDunderAll]

globals().update({name: Scalar(dtype) for name, dtype in VECTORS.items()})

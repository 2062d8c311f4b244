"""The registry with all rows that most kernels use, for those who go through them."""

from pycu2c.ops.intrinsics.registry import REGISTRY, import_rows

__all__ = ["REGISTRY"]

import_rows()

"""Why some tests of numba-cuda fail: patterns of "file::class.test", and the reasons."""

from __future__ import annotations

# documented differences of pycu2c
_EXPLAINED: dict[str, str] = {}

# reasons that are no properties of pycu2c
_OUTSIDE: dict[str, str] = {}

REASONS = {"explained": _EXPLAINED, "outside": _OUTSIDE}

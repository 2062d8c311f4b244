"""The nodes of the C tree, for the spellings of intrinsics."""

from __future__ import annotations

from pycu2c.csyntax import nodes as c

__all__ = ["c"]

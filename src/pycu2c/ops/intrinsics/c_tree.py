"""C's syntax for the spellings of intrinsics, opened when the first one is spelled: importing
the names that users need must not cost what a compiler needs."""

from __future__ import annotations

from pycu2c.csyntax import nodes as c

__all__ = ["c"]

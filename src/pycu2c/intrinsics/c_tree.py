"""C's syntax for the spellings of intrinsics, opened when the first one is spelled: importing
the names that users need must not cost what a compiler needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_module

if TYPE_CHECKING:
    from pycu2c.csyntax import nodes as c
else:
    c = lazy_module("pycu2c.csyntax.nodes")

__all__ = ["c"]

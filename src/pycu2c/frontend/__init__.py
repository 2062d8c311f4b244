"""Python source to IR."""

from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_rooms

if not TYPE_CHECKING:
    __getattr__ = lazy_rooms(__name__)

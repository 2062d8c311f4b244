"""The class of C helper functions: one text template for each kind of dtype."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Helper:
    """The templates of a helper function; empty for kinds of dtypes that need no helper.

    Placeholders: ``$q`` qualifiers, ``$T`` the type, ``$t`` its short name, ``$W`` the unsigned
    type for arithmetic, ``$bits`` the width, ``$f`` the suffix of math functions, ``$s`` the suffix
    of literals. ``${n}x)`` is ``-x`` with wraparound.
    """

    signed: str = ""
    unsigned: str = ""
    floating: str = ""
    wide: str = ""  # for float64, if it differs from ``floating``
    fixed: str = ""  # a function with fixed types
    made: Callable[[str, DType, str], str] | None = None  # from name, dtype and name of dialect
    calls: tuple[str, ...] = ()  # the helpers that it calls

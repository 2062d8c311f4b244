"""What a C function that emitted code calls looks like: a template for each kind of dtype."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Helper:
    """The text for each kind of dtype; empty where C needs no helper for it.

    ``$q`` qualifiers, ``$T`` the type, ``$t`` its short name, ``$W`` the unsigned type to
    work in, ``$bits`` the width, ``$f`` the suffix of math functions, ``$s`` of literals;
    ``${n}x)`` is ``-x``, wrapping.
    """

    signed: str = ""
    unsigned: str = ""
    floating: str = ""
    wide: str = ""  # of float64, if that is another one
    fixed: str = ""  # of a function that has its types by itself
    made: Callable[[str, DType, str], str] | None = None  # by its name, a dtype and the dialect's
    calls: tuple[str, ...] = ()  # other helpers

"""Functions that an earlier process has found nothing against: they are not looked through again.

The key is the text of the file with a function, where in it the function stands, and who reads it;
what is said of a text before any types are known depends on nothing else.
"""

from __future__ import annotations

import sys

from pycu2c import entries
from pycu2c.source import Source
from pycu2c.toolchain import cache, places


def is_allowed(source: Source, reader: type) -> bool:
    """Whether nothing was found."""
    return entries.load(_key(source, reader)) is not None


def keep_allowed(source: Source, reader: type) -> None:
    """Nothing was found."""
    if not places.place().problem:
        entries.store(_key(source, reader), True)


def _key(source: Source, reader: type) -> str:
    place = f"{source.tree.lineno} {source.tree.col_offset} {source.name}"
    who = f"{reader.__module__} {reader.__qualname__}"
    return cache.key_of("".join(source.lines), "allowed", place, who, entries.HOME, sys.version)

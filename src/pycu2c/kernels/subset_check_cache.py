"""Functions that an earlier process has found nothing against: they are not looked through again.

The key is the text of the file with a function, where in it the function stands, and who reads it;
what is said of a text before any types are known depends on nothing else.
"""

from __future__ import annotations

import sys

from pycu2c.base.source import Source
from pycu2c.toolchain.cache import artifact_store, cache_directory, value_store


def is_allowed(source: Source, reader: type) -> bool:
    """Whether nothing was found."""
    return value_store.load(_key(source, reader)) is not None


def keep_allowed(source: Source, reader: type) -> None:
    """Nothing was found."""
    if not cache_directory.locate().problem:
        value_store.store(_key(source, reader), True)


def _key(source: Source, reader: type) -> str:
    place = f"{source.tree.lineno} {source.tree.col_offset} {source.name}"
    who = f"{reader.__module__} {reader.__qualname__}"
    return artifact_store.key_of(
        "".join(source.lines), "allowed", place, who, value_store.PACKAGE_DIRECTORY, sys.version
    )

"""User files that are linked with compiled code, and their targets.

This module calls no linker and reads no file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TypeAlias, get_args

from pycu2c.base.external_code import Dialect

Link: TypeAlias = tuple[Dialect, str]  # dialect of the target, and absolute path

_SHARED_LIBRARY = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
SUFFIXES: Mapping[Dialect, tuple[str, ...]] = {
    "cuda": (".cu", ".ptx", ".cubin", ".fatbin", ".ltoir", ".o", ".a"),
    "c": (".c", _SHARED_LIBRARY, ".o", ".a", ".cu"),
}
_TARGETS: Mapping[str, Dialect] = {"cuda": "cuda", "cpu": "c"}


class BadLink(ValueError):
    """A file cannot be linked; the message says why and what to pass."""


def parse_links(links: object) -> tuple[Link, ...]:
    """Parse the option ``link``. Raises BadLink.

    The value is a path or paths, each for the targets that accept its suffix, or a dict with the
    keys "cuda" and "cpu".
    """
    if links is None:
        return ()
    named: list[tuple[tuple[Dialect, ...], str]]
    if isinstance(links, Mapping):
        for name in links:
            if name not in _TARGETS:
                raise BadLink(f"link: files are for 'cuda' or 'cpu', not for {name!r}")
        named = [
            ((_TARGETS[name],), path) for name, files in links.items() for path in _paths(files)
        ]
    else:
        named = [(_dialects_for(path), path) for path in _paths(links)]
    return tuple(
        (dialect, _check_path(path, dialects)) for dialects, path in named for dialect in dialects
    )


def links_for_target(links: Iterable[Link], dialect: str) -> tuple[str, ...]:
    """Return the files for one target, without duplicates."""
    return tuple(dict.fromkeys(path for linked, path in links if linked == dialect))


def _paths(value: object) -> list[str]:
    paths = [value] if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(paths, Iterable):
        raise BadLink(f"link: a file is named by its path, not by {value!r}")
    return [_path(path) for path in paths]


def _path(value: object) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise BadLink(f"link: a file is named by its path, not by {value!r}")
    return os.path.abspath(os.fspath(value))


def _dialects_for(path: str) -> tuple[Dialect, ...]:
    suffix = os.path.splitext(path)[1]
    return tuple(d for d in get_args(Dialect) if suffix in SUFFIXES[d]) or get_args(Dialect)


def _check_path(path: str, dialects: tuple[Dialect, ...]) -> str:
    """Return the path if the file exists and one of the targets accepts its suffix."""
    suffix = os.path.splitext(path)[1]
    if not any(suffix in SUFFIXES[d] for d in dialects):
        names = {d: name for name, d in _TARGETS.items()}
        accepted = "; ".join(f"{names[d]} takes {', '.join(SUFFIXES[d])}" for d in dialects)
        raise BadLink(f"link: {path} ends in {suffix or 'nothing'}: {accepted}")
    if not os.path.isfile(path):
        raise BadLink(f"link: there is no file {path}")
    return path

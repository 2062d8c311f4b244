"""What files of the user's own hold, those that they include with them. Knows no compiler."""

from __future__ import annotations

import os
import re

from pycu2c.base.hashing import digest_of
from pycu2c.toolchain.toolchain_errors import LinkError

_INCLUDE = rb'(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"'
_TEXTS = (".cu", ".c", ".cuh", ".h", ".hpp", ".inl")


def content(path: str) -> bytes:
    """All of a file. Raises LinkError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise LinkError(f"{path} cannot be linked: {error.strerror or error}") from error


def identity(path: str) -> str:
    """What tells a file from others, and from itself after a change to it, or to a file that it
    includes by a name in quotes."""
    found: dict[str, str] = {}
    waiting = [path]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        data = content(name)
        found[name] = digest_of(data)
        if name.endswith(_TEXTS):
            waiting += [file for file in _included(name, data) if os.path.isfile(file)]
    return "\n".join(f"{name} {digest}" for name, digest in sorted(found.items()))


def _included(path: str, data: bytes) -> list[str]:
    folder = os.path.dirname(path)
    names = (os.fsdecode(name) for name in re.findall(_INCLUDE, data))
    return [os.path.normpath(os.path.join(folder, name)) for name in names]

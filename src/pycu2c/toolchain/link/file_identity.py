"""Read linked files, and compute the identity of a file and of all files that it includes."""

from __future__ import annotations

import os
import re

from pycu2c.base.hashing import digest_of
from pycu2c.toolchain.toolchain_errors import LinkError

_INCLUDE = rb'(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"'
_SOURCE_SUFFIXES = (".cu", ".c", ".cuh", ".h", ".hpp", ".inl")


def read_file(path: str) -> bytes:
    """Return the contents of a file. Raises LinkError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise LinkError(f"{path} cannot be linked: {error.strerror or error}") from error


def file_identity(path: str) -> str:
    """Return names and digests of a file and of all files that it includes by ``#include "…"``."""
    digests: dict[str, str] = {}
    pending = [path]
    while pending:
        name = pending.pop()
        if name in digests:
            continue
        data = read_file(name)
        digests[name] = digest_of(data)
        if name.endswith(_SOURCE_SUFFIXES):
            pending += [file for file in _included(name, data) if os.path.isfile(file)]
    return "\n".join(f"{name} {digest}" for name, digest in sorted(digests.items()))


def _included(path: str, data: bytes) -> list[str]:
    folder = os.path.dirname(path)
    names = (os.fsdecode(name) for name in re.findall(_INCLUDE, data))
    return [os.path.normpath(os.path.join(folder, name)) for name in names]

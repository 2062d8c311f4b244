"""Read linked files, and compute the identity of a file and of all files that it includes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from pycu2c.base.hashing import digest_of
from pycu2c.toolchain.toolchain_errors import LinkError

_INCLUDE = rb'(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]'


def read_file(path: str) -> bytes:
    """Return the contents of a file. Raises LinkError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise LinkError(f"{path} cannot be linked: {error.strerror or error}") from error


def file_identity(path: str, folders: Sequence[str] = ()) -> str:
    """Return names and digests of a file and of all files that it includes.

    An included file is searched in the folder of the file that includes it, and in ``folders``.
    """
    return _identity([path], folders)


def included_files_identity(text: str, folders: Sequence[str]) -> str:
    """Return names and digests of all files that a text includes.

    They are searched in the current directory and in ``folders``.
    """
    return _identity(_included("", text.encode(), folders), folders)


def _identity(pending: list[str], folders: Sequence[str]) -> str:
    digests: dict[str, str] = {}
    while pending:
        name = pending.pop()
        if name in digests:
            continue
        data = read_file(name)
        digests[name] = digest_of(data)
        if b"\0" not in data:  # text
            pending += _included(os.path.dirname(name), data, folders)
    return "\n".join(f"{name} {digest}" for name, digest in sorted(digests.items()))


def _included(folder: str, data: bytes, folders: Sequence[str]) -> list[str]:
    names = [os.fsdecode(name) for name in re.findall(_INCLUDE, data)]
    paths = [os.path.normpath(os.path.join(f, name)) for name in names for f in (folder, *folders)]
    return [path for path in paths if os.path.isfile(path)]

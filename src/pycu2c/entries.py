"""What processes tell later ones, as literals of Python in the disk cache, which notices damage.

Each entry says which files of pycu2c had been imported when it was made, and how they were: it
counts as long as they are so. Knows no kernel.
"""

from __future__ import annotations

import ast
import os
import sys
from typing import Any

from pycu2c.digests import digest_of
from pycu2c.lazy import STARTED
from pycu2c.toolchain import cache

REMEMBERS = True  # tests compile whatever they run
HOME = os.path.dirname(os.path.abspath(__file__))
_SUFFIX = ".txt"


def load(key: str) -> Any:
    """What is kept under a key; None where nothing is, or it is of other files."""
    entry = cache.load(key, _SUFFIX) if REMEMBERS else None
    if entry is None:
        return None
    then, files, content = entry.data.decode().split("\n\n", 2)
    return ast.literal_eval(content) if then == _state_of(files) else None


def store(key: str, content: object) -> None:
    """Keep something other than None."""
    files = "\n".join(_imported())
    now = _state_of(files) if REMEMBERS else ""
    if now:
        cache.store(key, _SUFFIX, f"{now}\n\n{files}\n\n{content!r}".encode())


# ---- the files of pycu2c: another one, or an edited one, may find something else -------------

# how files are that have been looked at, and lists of files: once is enough
_SEEN: dict[str, str] = {}
_STARTED = int(STARTED * 1e9)


def _imported() -> list[str]:
    """The files of the modules that there are, from the home of all."""
    found = [m for name, m in [*sys.modules.items()] if f"{name}.".startswith("pycu2c.")]
    files = [getattr(m, "__file__", None) for m in found]  # of one that stands in for another, any
    return sorted(f.removeprefix(f"{HOME}{os.sep}") for f in files if f and isinstance(f, str))


def _state_of(files: str) -> str:
    """What tells how files are from how they were; empty if one is not as it was imported."""
    seen = _SEEN
    if files not in seen:
        names = files.split("\n")
        states = [seen[name] if name in seen else _looked_at(name) for name in names]
        seen[files] = digest_of("\n".join(states).encode()) if all(states) else ""
    return seen[files]


def _looked_at(file: str) -> str:
    state = ""
    try:
        status = os.stat(f"{HOME}{os.sep}{file}")
        if status.st_mtime_ns <= _STARTED and status.st_ctime_ns <= _STARTED:
            state = f"{status.st_mtime_ns} {status.st_size}"
    except OSError:
        pass
    _SEEN[file] = state
    return state

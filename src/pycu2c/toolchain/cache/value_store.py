"""Store Python values in the disk cache for later processes.

Each entry lists the files of pycu2c that it depends on, with their times and sizes: it is valid
while these are unchanged. The default is all files that were imported when the entry was stored.
Keys must contain the version of Python, because ``marshal`` formats depend on it.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterable
from typing import Any

from pycu2c.base.hashing import digest_of
from pycu2c.base.lazy_imports import IMPORT_TIME
from pycu2c.toolchain.cache import artifact_store

ENABLED = True  # tests compile whatever they run
PACKAGE_DIRECTORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_SUFFIX = ".txt"


def load(key: str) -> Any:
    """Return the value of a key; None if there is none or its files have changed."""
    entry = artifact_store.load(key, _SUFFIX) if ENABLED else None
    if entry is None:
        return None
    state, files, content = entry.data.split(b"\n\n", 2)
    return marshal.loads(content) if state.decode() == _combined_state(files.decode()) else None


def store(key: str, content: Any, files: Iterable[str] = ()) -> None:
    """Store a value other than None: str, numbers, tuples, lists and dicts of these.

    The entry depends on ``files``, or, if there are none, on all imported files of pycu2c.
    """
    files = "\n".join(files or imported_files())
    state = _combined_state(files) if ENABLED else ""
    if state:
        artifact_store.store(
            key, _SUFFIX, f"{state}\n\n{files}\n\n".encode() + marshal.dumps(content)
        )


# ---- states of the source files of pycu2c ----------------------------------------------------

# states of files and of newline-separated lists of files: each is computed once
_STATES: dict[str, str] = {}
_START_TIME = int(IMPORT_TIME * 1e9)


def imported_files() -> list[str]:
    """Return the files of the imported modules, relative to the package."""
    found = [m for name, m in [*sys.modules.items()] if f"{name}.".startswith("pycu2c.")]
    files = [getattr(m, "__file__", None) for m in found]  # of a lazy module, any object
    prefix = f"{PACKAGE_DIRECTORY}{os.sep}"
    return sorted(f.removeprefix(prefix) for f in files if f and isinstance(f, str))


def _combined_state(files: str) -> str:
    """Return a digest of the states of files; empty if one has changed since its import."""
    cached = _STATES
    if files not in cached:
        names = files.split("\n")
        new = [name for name in names if name not in cached]
        cached.update(
            (name, _file_state(f"{PACKAGE_DIRECTORY}{os.sep}{name}", _START_TIME)) for name in new
        )
        states = [cached[name] for name in names]
        cached[files] = digest_of("\n".join(states).encode()) if all(states) else ""
    return cached[files]


def _file_state(path: str, latest: int) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if max(status.st_mtime_ns, status.st_ctime_ns) > latest:
        return ""
    return f"{status.st_mtime_ns} {status.st_size}"

"""What processes tell later ones, as values of Python in the disk cache, which notices damage.

Each entry says which files of pycu2c it depends on, those that had been imported when it was made,
and how they were: it counts as long as they are so. Keys have Python's version: ``marshal`` writes
what that reads. Knows no kernel.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from pycu2c.base.hashing import digest_of
from pycu2c.base.lazy_imports import STARTED
from pycu2c.toolchain.cache import artifact_store

# folder, names of files, the latest time: when each was changed and its size, or nothing
_Look: TypeAlias = Callable[[str, Sequence[str], int], list[str]]

REMEMBERS = True  # tests compile whatever they run
HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_SUFFIX = ".txt"


def load(key: str) -> Any:
    """What is kept under a key; None where nothing is, or it is of other files."""
    entry = artifact_store.load(key, _SUFFIX) if REMEMBERS else None
    if entry is None:
        return None
    then, files, content = entry.data.split(b"\n\n", 2)
    return marshal.loads(content) if then.decode() == _state_of(files.decode()) else None


def store(key: str, content: Any, files: Iterable[str] = ()) -> None:
    """Keep something other than None: texts, numbers, tuples, lists and dicts of these. It depends
    on these files alone, if any are named, else on all that are imported."""
    files = "\n".join(files or imported())
    now = _state_of(files) if REMEMBERS else ""
    if now:
        artifact_store.store(
            key, _SUFFIX, f"{now}\n\n{files}\n\n".encode() + marshal.dumps(content)
        )


# ---- the files of pycu2c: another one, or an edited one, may find something else -------------

# how files are that have been looked at, and lists of files: once is enough
_SEEN: dict[str, str] = {}
_STARTED = int(STARTED * 1e9)


def imported() -> list[str]:
    """The files of the modules that there are, from the home of all."""
    found = [m for name, m in [*sys.modules.items()] if f"{name}.".startswith("pycu2c.")]
    files = [getattr(m, "__file__", None) for m in found]  # of one that stands in for another, any
    return sorted(f.removeprefix(f"{HOME}{os.sep}") for f in files if f and isinstance(f, str))


def _state_of(files: str) -> str:
    """What tells how files are from how they were; empty if one is not as it was imported."""
    seen = _SEEN
    if files not in seen:
        names = files.split("\n")
        new = [name for name in names if name not in seen]
        seen.update(zip(new, (_QUICKLY or [_looked_at])[0](HOME, new, _STARTED)))
        states = [seen[name] for name in names]
        seen[files] = digest_of("\n".join(states).encode()) if all(states) else ""
    return seen[files]


def _looked_at(folder: str, names: Sequence[str], latest: int) -> list[str]:
    return [_state_of_one(f"{folder}{os.sep}{name}", latest) for name in names]


def _state_of_one(path: str, latest: int) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if max(status.st_mtime_ns, status.st_ctime_ns) > latest:
        return ""
    return f"{status.st_mtime_ns} {status.st_size}"


# what does the same in C, where some is loaded: of a known kernel's first launch, a tenth
_QUICKLY: list[_Look] = []


def look_by(look: _Look) -> None:
    """Have a function look at files from now on."""
    _QUICKLY[:] = [look]

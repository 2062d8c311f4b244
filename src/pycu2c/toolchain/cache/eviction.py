"""How much the cache holds, and what goes when that is too much. Knows where entries lie, not
what is in them.

A sixteenth of the entries is looked at now and then when one is stored; of those, the ones that
were not used for the longest time go. The time of a file is that of its last use, to the hour.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import cache_directory

_USUAL_LIMIT = 1 << 30
_PARTS = 16  # folders of entries, by the first digit of their keys
_DAY = 86400.0

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Kind:
    """Entries with one suffix: how many, their bytes, and the last use of one of them."""

    suffix: str
    entries: int
    size: int
    used: float


@dataclass(frozen=True, slots=True)
class Info:
    """Where the cache is and what it holds. ``problem`` says why nothing is kept in it."""

    directory: Path
    kinds: tuple[Kind, ...]
    limit: int
    problem: str = ""

    @property
    def entries(self) -> int:
        return sum(kind.entries for kind in self.kinds)

    @property
    def size(self) -> int:
        return sum(kind.size for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size: int
    used: float


def limit() -> int:
    """The bytes that entries may take: PYCU2C_CACHE_SIZE, such as 500M or 2G."""
    found = _SIZE.fullmatch(os.environ.get("PYCU2C_CACHE_SIZE", "").strip())
    return int(float(found[1]) * _UNITS[found[2].upper()]) if found else _USUAL_LIMIT


def info() -> Info:
    """What the cache holds now."""
    place = cache_directory.place_so_far()
    directory = pathlib.Path(place.directory)
    kinds: dict[str, list[_File]] = {}
    for file in _entries(directory) if place.readable else ():
        kinds.setdefault(os.path.splitext(file.path)[1], []).append(file)
    counted = [
        Kind(suffix, len(files), sum(f.size for f in files), max(f.used for f in files))
        for suffix, files in sorted(kinds.items())
    ]
    return Info(directory, tuple(counted), limit(), place.problem or _wrong_limit())


def _wrong_limit() -> str:
    text = os.environ.get("PYCU2C_CACHE_SIZE", "").strip()
    if not text or _SIZE.fullmatch(text):
        return ""
    return f"PYCU2C_CACHE_SIZE is {text!r}, which is no size such as 500M or 2G"


def clear(*, unused_for: float = 0.0, everything: bool = False) -> tuple[int, int]:
    """Remove entries that were not used for so many days; ``everything``: also what other
    versions of pycu2c have kept, unpacked headers, refused code, and code that was linked from
    memory. How many files, how many bytes. Loaded code stays loaded."""
    place = cache_directory.place_so_far()
    if not place.readable:
        return 0, 0
    directory = pathlib.Path(place.directory)
    found = [*_entries(directory), *_files_in(directory / "new")]
    if everything:
        found += _beside(directory)
    before = time.time() - unused_for * _DAY
    gone = [f for f in found if (not unused_for or f.used < before) and _removed(f.path)]
    return len(gone), sum(f.size for f in gone)


def make_room(stored: str, size: int) -> None:
    """After an entry was stored: by chance, and then for many of them. A cache that is as large as
    it may be is looked through once while a sixteenth of it is written."""
    most = limit() / _PARTS
    if int.from_bytes(os.urandom(4), "little") / 2**32 * most > size * _PARTS:
        return
    now = time.time()
    files = list(_files_in(os.path.dirname(stored)))
    held = sum(file.size for file in files)
    if held <= most:
        return
    for file in sorted(files, key=lambda f: _last_use(f, now)):
        if held <= most * 7 / 8:
            return
        if file.path != stored and _removed(file.path):
            held -= file.size


def _last_use(file: _File, now: float) -> float:
    """What will be used tomorrow is of a time when the clock was wrong, and not of today."""
    return file.used if file.used < now + _DAY else 0.0


_IS_ENTRY = re.compile(r"[0-9a-f]{64}(-[0-9a-f]{32})?\.[a-z]+")  # schema 1 had a digest in it
_IS_REFUSED = re.compile(r".*-[0-9a-f]{12}\.(c|cu)")
_IS_LINKED = re.compile(r"\w+-[0-9a-f]{12}\.[a-z]+.*")


def _entries(directory: Path) -> Iterator[_File]:
    """What looks like one: the user may have named a directory that has other things in it."""
    for folder in (*directory.glob("[0-9a-f]"), *directory.glob("[0-9a-f][0-9a-f]")):
        yield from _named(_IS_ENTRY, folder)


def _beside(directory: Path) -> Iterator[_File]:
    for other in directory.parent.glob("v[0-9]*"):
        if other != directory:
            yield from _entries(other)
    yield from _named(_IS_REFUSED, directory.parent / "refused")
    yield from _named(_IS_LINKED, directory.parent / "linked")
    for headers in directory.parent.glob("cuda-headers-*"):
        for folder, _, _ in os.walk(headers):
            yield from _files_in(folder)


def _named(pattern: re.Pattern[str], folder: Path) -> Iterator[_File]:
    return (f for f in _files_in(folder) if pattern.fullmatch(os.path.basename(f.path)))


def _files_in(folder: str | Path) -> Iterator[_File]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for file in found:
            with contextlib.suppress(OSError):  # another process removed it
                status = file.stat(follow_symlinks=False)
                if not file.is_dir(follow_symlinks=False):
                    yield _File(file.path, status.st_size, status.st_mtime)


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True

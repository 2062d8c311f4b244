"""Report the contents of the cache and evict entries when it exceeds its limit.

Storing an entry sometimes triggers an eviction pass over one shard, a sixteenth of the entries. The
pass removes the least recently used ones. The modification time of a file is its last use, with a
precision of one hour.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

from pycu2c.base.errors import environment_setting
from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import cache_directory

_DEFAULT_LIMIT = 1 << 30
_SHARDS = 16  # folders of entries, by the first digit of their keys
_DAY = 86400.0

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SuffixUsage:
    """Entries with one suffix: count, bytes, and the time of the last use of any."""

    suffix: str
    entries: int
    size: int
    last_used: float


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """Directory, contents and limit of the cache. ``problem`` says why it is not used."""

    directory: Path
    kinds: tuple[SuffixUsage, ...]
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
    last_used: float


def limit() -> int:
    """Return the size limit in bytes, from PYCU2C_CACHE_SIZE, such as 500M or 2G."""
    allowed = "a size such as 500M or 2G"
    return environment_setting("PYCU2C_CACHE_SIZE", _parse_size, allowed, _DEFAULT_LIMIT)


def _parse_size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if not found:
        raise ValueError(text)
    return int(float(found[1]) * _UNITS[found[2].upper()])


def usage() -> CacheUsage:
    """Return the contents of the cache."""
    location = cache_directory.locate()
    directory = pathlib.Path(location.directory)
    by_suffix: dict[str, list[_File]] = {}
    for file in entries(directory) if location.readable else ():
        by_suffix.setdefault(os.path.splitext(file.path)[1], []).append(file)
    counted = [
        SuffixUsage(suffix, len(files), sum(f.size for f in files), max(f.last_used for f in files))
        for suffix, files in sorted(by_suffix.items())
    ]
    return CacheUsage(directory, tuple(counted), limit(), location.problem)


def clear(*, unused_for: float = 0.0, everything: bool = False) -> tuple[int, int]:
    """Remove cache files; return their number and their bytes. Loaded code stays loaded.

    unused_for: remove only files that were not used for this number of days.
    everything: also remove entries of other versions of pycu2c, unpacked CUDA headers, rejected
    source, and binaries that were linked from memory.
    """
    location = cache_directory.locate()
    if not location.readable:
        return 0, 0
    directory = pathlib.Path(location.directory)
    found = [*entries(directory), *_files_in(directory / "new")]
    if everything:
        found += _other_files(directory)
    cutoff = time.time() - unused_for * _DAY
    removed = [f for f in found if (not unused_for or f.last_used < cutoff) and _try_unlink(f.path)]
    return len(removed), sum(f.size for f in removed)


def evict(stored: str, size: int) -> None:
    """Evict entries from the shard of a new entry, with a probability proportional to its size.

    A full cache is scanned once on average while a sixteenth of it is written.
    """
    shard_limit = limit() / _SHARDS
    if int.from_bytes(os.urandom(4), "little") / 2**32 * shard_limit > size * _SHARDS:
        return
    now = time.time()
    files = list(_files_in(os.path.dirname(stored)))
    total = sum(file.size for file in files)
    if total <= shard_limit:
        return
    for file in sorted(files, key=lambda f: _sort_time(f, now)):
        if total <= shard_limit * 7 / 8:
            return
        if file.path != stored and _try_unlink(file.path):
            total -= file.size


def _sort_time(file: _File, now: float) -> float:
    """Return the last use; 0 for times in the future, which a wrong clock has written."""
    return file.last_used if file.last_used < now + _DAY else 0.0


_IS_ENTRY = re.compile(r"[0-9a-f]{64}\.[a-z]+")
_IS_REJECTED = re.compile(r".*-[0-9a-f]{12}\.(c|cu)")
_IS_LINKED = re.compile(r"\w+-[0-9a-f]{12}\.[a-z]+.*")


def entries(directory: Path) -> Iterator[_File]:
    """Yield files with names of entries: a directory of the user may contain other files."""
    for folder in directory.glob("[0-9a-f]"):
        yield from _matching_files(_IS_ENTRY, folder)


def is_entry_name(name: str) -> bool:
    return _IS_ENTRY.fullmatch(name) is not None


def _other_files(directory: Path) -> Iterator[_File]:
    for other in directory.parent.glob("v[0-9]*"):
        if other != directory:
            yield from entries(other)
    yield from _matching_files(_IS_REJECTED, directory.parent / "rejected")
    yield from _matching_files(_IS_LINKED, directory.parent / "linked")
    for headers in directory.parent.glob("cuda-headers-*"):
        for folder, _, _ in os.walk(headers):
            yield from _files_in(folder)


def _matching_files(pattern: re.Pattern[str], folder: Path) -> Iterator[_File]:
    return (f for f in _files_in(folder) if pattern.fullmatch(os.path.basename(f.path)))


def _files_in(folder: str | Path) -> Iterator[_File]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for file in found:
            with contextlib.suppress(OSError):  # another process removed it
                status = file.stat(follow_symlinks=False)
                if not file.is_dir(follow_symlinks=False):
                    yield _File(file.path, status.st_size, status.st_mtime)


def _try_unlink(path: str) -> bool:
    """Remove a file; return whether that succeeded."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True

"""Compiled code on disk, named by what it was made from. Knows no compiler.

An entry is one file, ``<key>-<digest><suffix>``. The key hashes everything that the data was
made from, so an entry is never out of date; the digest is that of the data, so a damaged file
is noticed, dropped and made again. Files appear by ``os.replace``: many processes may use one
directory at once.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_module
from pycu2c.records import dataclass

if TYPE_CHECKING:
    import shutil
    import tempfile
else:  # where all is in the cache, nothing is written
    shutil = lazy_module("shutil")
    tempfile = lazy_module("tempfile")

SCHEMA = 1  # raise it when the form of entries or of keys changes

_DIGEST_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached file and what is in it."""

    path: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class Info:
    """Where the cache is and how much it holds. ``problem`` says why it is not on disk."""

    directory: Path
    entries: int
    size: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    directory: Path
    problem: str = ""


def key_of(text: str, *identity: str) -> str:
    """The name of what a toolchain makes of ``text``; ``identity``: its version, flags, target."""
    parts = [part.encode("utf-8", "surrogatepass") for part in (str(SCHEMA), text, *identity)]
    digest = hashlib.sha256()
    for part in parts:  # with lengths, so that ("ab", "c") and ("a", "bc") differ
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def load(key: str, suffix: str) -> Entry | None:
    """The entry of a key, whole and unharmed, or None. ``suffix`` starts with a dot."""
    for path in _matches(key, suffix):
        try:
            data = path.read_bytes()
        except OSError:  # another process removed it
            continue
        if path.name == _file_name(key, suffix, data):
            return Entry(path, data)
        _remove(path)
    return None


def store(key: str, suffix: str, data: bytes) -> Path:
    """Keep ``data`` under a key. Where the cache cannot take it, a temporary file does."""
    place = _place()
    name = _file_name(key, suffix, data)
    try:
        return _write(place.directory / key[:2], name, data)
    except OSError:  # full, or read-only since we looked
        return _write(_private_directory(os.getpid()), name, data)


def keep_until_exit(name: str, data: bytes) -> Path:
    """Put ``data`` into a file that is nobody else's and goes when the process does."""
    home = Path(tempfile.mkdtemp(dir=_private_directory(os.getpid())))
    return _write(home, name, data)


def info() -> Info:
    """What the cache holds now."""
    place = _place()
    sizes = []
    for path in _files(place.directory):
        with contextlib.suppress(OSError):
            sizes.append(path.stat().st_size)
    return Info(place.directory, len(sizes), sum(sizes), place.problem)


def clear() -> int:
    """Remove every entry; the number of files removed. Loaded code stays loaded."""
    return sum(_remove(path) for path in _files(_place().directory))


def _file_name(key: str, suffix: str, data: bytes) -> str:
    return f"{key}-{hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]}{suffix}"


def _matches(key: str, suffix: str) -> list[Path]:
    shard = _place().directory / key[:2]
    try:
        names = os.listdir(shard)
    except OSError:
        return []
    return [shard / n for n in sorted(names) if n.startswith(f"{key}-") and n.endswith(suffix)]


def _files(directory: Path) -> Iterator[Path]:
    """Entries, and the leavings of processes that died while they wrote one."""
    with contextlib.suppress(OSError):
        yield from [p for p in directory.glob("[0-9a-f][0-9a-f]/*") if p.is_file()]


def _write(directory: Path, name: str, data: bytes) -> Path:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, directory / name)
    except BaseException:
        _remove(Path(temporary))
        raise
    _remove_leavings(directory)
    return directory / name


def _remove_leavings(directory: Path) -> None:
    """Of processes that died while they wrote; nobody writes for an hour."""
    for path in directory.glob(".new-*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - 3600:
                path.unlink()


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def private_folder(name: str) -> Path:
    """A folder for what a compiler unpacks, beside the cache."""
    folder = _place().directory.parent / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


# ---- where ---------------------------------------------------------------------------------


def _place() -> _Place:
    environment = os.environ
    return _place_of(
        environment.get("PYCU2C_CACHE_DIR", ""),
        environment.get("XDG_CACHE_HOME", ""),
        os.path.expanduser("~"),
        os.getpid(),
    )


@functools.lru_cache(maxsize=8)
def _place_of(chosen: str, xdg: str, home: str, process: int) -> _Place:
    """Looked up once for each setting: the arguments are what the answer depends on."""
    directory = _wanted(chosen, xdg, home)
    problem = _unfit(directory) if directory else "there is no home directory"
    if directory is None or problem:
        return _Place(_private_directory(process) / "cache", problem)
    return _Place(directory)


def _wanted(chosen: str, xdg: str, home: str) -> Path | None:
    if chosen:
        return Path(chosen).expanduser().absolute() / f"v{SCHEMA}"
    if os.path.isabs(xdg):  # the XDG rules: a relative one is ignored
        return Path(xdg, "pycu2c", f"v{SCHEMA}")
    return Path(home, ".cache", "pycu2c", f"v{SCHEMA}") if os.path.isabs(home) else None


def _unfit(directory: Path) -> str:
    """Why a directory cannot hold code that this process will run; empty if it can."""
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        return f"{directory} cannot be used: {error.strerror}"
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        return f"{directory} cannot be used: it cannot be written"
    if os.name == "posix" and not _is_ours(status):
        return f"{directory} can be written by others, so code in it cannot be trusted"
    return ""


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH


@functools.lru_cache(maxsize=2)
def _private_directory(process: int) -> Path:
    """A directory of this process alone; a forked child gets its own, and removes only that."""
    directory = Path(tempfile.mkdtemp(prefix="pycu2c-"))
    atexit.register(_remove_tree, directory, process)
    return directory


def _remove_tree(directory: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(directory, ignore_errors=True)

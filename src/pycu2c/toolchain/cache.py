"""Compiled code on disk, named by what it was made from. Knows no compiler.

An entry is one file, named by its key. The key hashes everything that the data was made from, so
an entry is never out of date. The file holds the data, what the compiler said, and a foot with a
digest of all that and of the name: a damaged entry is noticed, dropped and made again. The foot
comes last, as the system loads a shared object with it there. Files appear by ``os.replace``:
many processes may use one directory at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_module
from pycu2c.records import dataclass
from pycu2c.toolchain import locks, places

if TYPE_CHECKING:
    from pycu2c.toolchain import room
else:
    room = lazy_module("pycu2c.toolchain.room")

_FOOT = struct.Struct("<QQ32s8s")  # lengths of the data and of the log, digest, mark
_MARK = b"pycu2c\0" + bytes([places.SCHEMA])
_STALE = 3600.0  # seconds; so old a mark of use is renewed, and so old a half-written file goes
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe is no entry
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_WRITE |= getattr(os, "O_CLOEXEC", 0)

_MAKING: dict[str, threading.Lock] = {}  # by key: threads that want the same wait for the first
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_MAKING.clear)  # who held them is not there


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept under a key, and where, if it is on disk. ``log``: what the compiler said."""

    path: Path | None
    data: bytes
    log: str = ""


def key_of(text: str, *identity: str) -> str:
    """The name of what a toolchain makes of ``text``; ``identity``: its version, flags, target."""
    parts = [part.encode("utf-8", "surrogatepass") for part in (text, *identity)]
    digest = hashlib.sha256(_MARK)
    for part in parts:  # with lengths, so that ("ab", "c") and ("a", "bc") differ
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def made(key: str, suffix: str, make: Callable[[], tuple[bytes, str]]) -> Entry:
    """The entry of a key. Where there is none, one thread of one process makes its data and log,
    while others that want it wait."""
    found = load(key, suffix)
    if found:
        return found
    with _MAKING.setdefault(key, threading.Lock()), _one_process(key, suffix):
        found = load(key, suffix)
        if found:
            return found
        data, log = make()
        return Entry(store(key, suffix, data, log), data, log)


@contextlib.contextmanager
def _one_process(key: str, suffix: str) -> Iterator[None]:
    place = places.place()
    if place.problem:
        yield
        return
    lock = place.directory / "locks" / key[:2]  # never removed: somebody may hold it
    with contextlib.suppress(OSError):
        places.make(lock.parent)
    with locks.alone(lock, _path(place.directory, key, suffix).exists):
        yield


def load(key: str, suffix: str) -> Entry | None:
    """The entry of a key, whole and unharmed, or None. ``suffix`` starts with a dot."""
    for directory in _readable():
        path = _path(directory, key, suffix)
        try:
            whole = _read(path)
        except OSError:  # not there, or no file; what is stored there replaces it
            continue
        entry = _opened(path, whole)
        if entry:
            return entry
        with contextlib.suppress(OSError):
            path.unlink()
    return None


def store(key: str, suffix: str, data: bytes, log: str = "") -> Path | None:
    """Keep ``data`` under a key, in the cache or for this process; None where no disk takes it."""
    said = log.encode("utf-8", "replace")
    name = key + suffix
    sizes = len(data).to_bytes(8, "little") + len(said).to_bytes(8, "little")
    digest = hashlib.sha256(b"".join((name.encode(), sizes, data, said))).digest()
    whole = b"".join((data, said, _FOOT.pack(len(data), len(said), digest, _MARK)))
    place = places.place()
    if not place.problem:
        with contextlib.suppress(OSError):  # full, or read-only since we looked
            path = _written(place.directory, key, suffix, whole)
            room.make_room(path, len(whole))
            return path
    with contextlib.suppress(OSError):
        return _written(places.private_directory(), key, suffix, whole)
    return None


def keep_until_exit(name: str, data: bytes) -> Path:
    """Put ``data`` into a file that is nobody else's and goes when the process does."""
    home = places.private_directory() / os.urandom(8).hex()
    places.make(home)
    _write(home / name, data)
    return home / name


def _readable() -> Iterator[Path]:
    place, own = places.place(), places.private_directory_so_far()
    if place.readable:
        yield place.directory
    if own:
        yield own


def _path(directory: Path, key: str, suffix: str) -> Path:
    return Path(f"{directory}/{key[0]}/{key}{suffix}")


def _read(path: Path) -> bytes:
    """A file of ours; that it was read is marked now and then."""
    handle = os.open(path, _READ)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or places.is_foreign(status.st_uid):
            return b""
        parts = []
        while part := os.read(handle, status.st_size + 1):
            parts.append(part)
        if abs(time.time() - status.st_mtime) > _STALE and os.utime in os.supports_fd:
            with contextlib.suppress(OSError):
                os.utime(handle)
        return b"".join(parts)
    finally:
        os.close(handle)


def _opened(path: Path, whole: bytes) -> Entry | None:
    if len(whole) < _FOOT.size:
        return None
    body = len(whole) - _FOOT.size
    length, said, digest, mark = _FOOT.unpack_from(whole, body)
    if mark != _MARK or length + said != body:
        return None
    found = hashlib.sha256(path.name.encode() + whole[body : body + 16])
    found.update(memoryview(whole)[:body])
    if found.digest() != digest:
        return None
    return Entry(path, whole[:length], whole[length:body].decode("utf-8", "replace"))


def _written(directory: Path, key: str, suffix: str, whole: bytes) -> Path:
    path = _path(directory, key, suffix)
    temporary = directory / "new" / f"{os.getpid()}-{os.urandom(8).hex()}"
    try:
        _write(temporary, whole)
    except FileNotFoundError:  # the first entry, or somebody removed the directory
        places.make(temporary.parent)
        _write(temporary, whole)
    try:
        _put(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _remove_leavings(temporary.parent)
    return path


def _put(temporary: Path, path: Path) -> None:
    try:
        os.replace(temporary, path)
    except FileNotFoundError:
        places.make(path.parent)
        os.replace(temporary, path)
    except IsADirectoryError:
        path.rmdir()
        os.replace(temporary, path)


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, _WRITE, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(handle)


def _remove_leavings(directory: Path) -> None:
    """Of processes that died while they wrote; nobody writes for an hour."""
    for path in directory.iterdir():
        with contextlib.suppress(OSError):
            if abs(time.time() - path.stat().st_mtime) > _STALE:
                path.unlink()

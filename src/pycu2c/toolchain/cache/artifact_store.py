"""Compiled code on disk, named by what it was made from. Knows no compiler.

An entry is one file, named by its key. The key hashes everything that the data was made from, so
an entry is never out of date. The file holds the data, what the compiler said, and a foot with a
digest of all that and of the name: a damaged entry is noticed, dropped and made again. The foot
comes last, as the system loads a shared object with it there. Files appear by ``os.replace``:
many processes may use one directory at once.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import time
from _thread import allocate_lock  # ``threading``, which has it too, imports much
from collections.abc import Callable, Iterator

from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import cache_directory, eviction, file_locks

_FOOT = struct.Struct("<QQ64s8s")  # lengths of the data and of the log, digest, mark
_MARK = b"pycu2c\0" + bytes([cache_directory.SCHEMA])
_STALE = 3600.0  # seconds; so old a mark of use is renewed, and so old a half-written file goes
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe is no entry
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_WRITE |= getattr(os, "O_CLOEXEC", 0)

# by key: threads that want the same wait for the first
_MAKING: dict[str, contextlib.AbstractContextManager[bool]] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_MAKING.clear)  # who held them is not there


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept under a key, and where, if it is on disk. ``log``: what the compiler said."""

    path: str | None
    data: bytes
    log: str = ""


def key_of(text: str, *identity: str) -> str:
    """The name of what a toolchain makes of ``text``; ``identity``: its version, flags, target."""
    parts = (part.encode("utf-8", "surrogatepass") for part in (text, *identity))
    return digest_of(_MARK, *parts)


def made(key: str, suffix: str, make: Callable[[], tuple[bytes, str]]) -> Entry:
    """The entry of a key. Where there is none, one thread of one process makes its data and log,
    while others that want it wait."""
    found = load(key, suffix)
    if found:
        return found
    with _MAKING.setdefault(key, allocate_lock()), _one_process(key, suffix):
        found = load(key, suffix)
        if found:
            return found
        data, log = make()
        return Entry(store(key, suffix, data, log), data, log)


@contextlib.contextmanager
def _one_process(key: str, suffix: str) -> Iterator[None]:
    place = cache_directory.place()
    if place.problem:
        yield
        return
    folder, path = os.path.join(place.directory, "locks"), _path(place.directory, key, suffix)
    with contextlib.suppress(OSError):
        cache_directory.make(folder)
    lock = os.path.join(folder, key[:2])  # never removed: somebody may hold it
    with file_locks.alone(lock, lambda: os.path.exists(path)):
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
            os.unlink(path)
    return None


def store(key: str, suffix: str, data: bytes, log: str = "") -> str | None:
    """Keep ``data`` under a key, in the cache or for this process; None where no disk takes it."""
    said = log.encode("utf-8", "replace")
    digest = digest_of(f"{key}{suffix}".encode(), data, said)
    whole = b"".join((data, said, _FOOT.pack(len(data), len(said), digest.encode(), _MARK)))
    place = cache_directory.place()
    if not place.problem:
        with contextlib.suppress(OSError):  # full, or read-only since we looked
            path = _written(place.directory, key, suffix, whole)
            eviction.make_room(path, len(whole))
            return path
    with contextlib.suppress(OSError):
        return _written(cache_directory.private_directory(), key, suffix, whole)
    return None


def keep_until_exit(name: str, data: bytes) -> str:
    """Put ``data`` into a file that is nobody else's and goes when the process does."""
    home = os.path.join(cache_directory.private_directory(), os.urandom(8).hex())
    cache_directory.make(home)
    path = os.path.join(home, name)
    _write(path, data)
    return path


def _readable() -> Iterator[str]:
    place, own = cache_directory.place(), cache_directory.private_directory_so_far()
    if place.readable:
        yield place.directory
    if own:
        yield own


def _path(directory: str, key: str, suffix: str) -> str:
    return os.path.join(directory, key[0], f"{key}{suffix}")


def _read(path: str) -> bytes:
    """A file of ours; that it was read is marked now and then."""
    handle = os.open(path, _READ)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or cache_directory.is_foreign(status.st_uid):
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


def _opened(path: str, whole: bytes) -> Entry | None:
    if len(whole) < _FOOT.size:
        return None
    body = len(whole) - _FOOT.size
    length, said, digest, mark = _FOOT.unpack_from(whole, body)
    if mark != _MARK or length + said != body:
        return None
    data, log = whole[:length], whole[length:body]
    if digest_of(os.path.basename(path).encode(), data, log).encode() != digest:
        return None
    return Entry(path, data, log.decode("utf-8", "replace"))


def _written(directory: str, key: str, suffix: str, whole: bytes) -> str:
    path, folder = _path(directory, key, suffix), os.path.join(directory, "new")
    temporary = os.path.join(folder, f"{os.getpid()}-{os.urandom(8).hex()}")
    try:
        _write(temporary, whole)
    except FileNotFoundError:  # the first entry, or somebody removed the directory
        cache_directory.make(folder)
        _write(temporary, whole)
    try:
        _put(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _remove_leavings(folder)
    return path


def _put(temporary: str, path: str) -> None:
    try:
        os.replace(temporary, path)
    except FileNotFoundError:
        cache_directory.make(os.path.dirname(path))
        os.replace(temporary, path)
    except IsADirectoryError:
        os.rmdir(path)
        os.replace(temporary, path)


def _write(path: str, data: bytes) -> None:
    handle = os.open(path, _WRITE, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(handle)


def _remove_leavings(folder: str) -> None:
    """Of processes that died while they wrote; nobody writes for an hour."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if abs(time.time() - os.stat(path).st_mtime) > _STALE:
                os.unlink(path)

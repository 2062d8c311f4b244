"""Store compiled code on disk in content-addressed entries.

An entry is one file, named by its key. The key hashes all inputs of the compilation, so a stale
entry is never used. The file contains the data, the compiler's log, and a footer with a digest of
both and of the file name. ``load`` removes damaged entries. The footer is at the end because the
system still loads a shared object with trailing bytes. Writers use atomic renames, so processes
can share a directory.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator
from threading import Lock

from pycu2c.base.hashing import digest_of
from pycu2c.base.output import tracing
from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import cache_directory, eviction, file_locks

_FOOTER = struct.Struct("<QQ64s8s")  # lengths of the data and of the log, digest, magic
_MAGIC = b"pycu2c\0" + bytes([cache_directory.SCHEMA])
_STALE_SECONDS = 3600.0  # older access times are renewed, older temporary files are removed
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # do not block on a pipe
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_WRITE_FLAGS |= getattr(os, "O_CLOEXEC", 0)

# locks by key: only one thread makes an entry
_KEY_LOCKS: dict[str, contextlib.AbstractContextManager[bool]] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_KEY_LOCKS.clear)  # the holders do not exist in the child


@dataclass(frozen=True, slots=True)
class Entry:
    """The data of an entry, its path if it is on disk, and the log of the compiler."""

    path: str | None
    data: bytes
    log: str = ""


def key_of(text: str, *identity: str) -> str:
    """Return the key of the binary of ``text``; ``identity``: compiler version, flags, target."""
    parts = (part.encode("utf-8", "surrogatepass") for part in (text, *identity))
    return digest_of(_MAGIC, *parts)


def load_or_make(key: str, suffix: str, make: Callable[[], tuple[bytes, str]]) -> Entry:
    """Return the entry of a key; call ``make`` for its data and log if it does not exist.

    Other threads and processes that need the same entry wait meanwhile.
    """
    found = load(key, suffix)
    if found:
        return found
    with _KEY_LOCKS.setdefault(key, Lock()), process_lock(key, suffix):
        found = load(key, suffix)
        if found:
            return found
        data, log = make()
        return Entry(store(key, suffix, data, log), data, log)


@contextlib.contextmanager
def process_lock(key: str, suffix: str) -> Iterator[None]:
    """Let one process of this machine make an entry in a ``with``, while the others wait.

    They wait until the entry exists, or the process that makes it ends or fails.
    """
    location = cache_directory.locate()
    if location.problem:
        yield
        return
    path = _entry_path(location.directory, key, suffix)
    with file_locks.exclusive(cache_directory.entry_lock(path), lambda: os.path.exists(path)):
        yield


def load(key: str, suffix: str) -> Entry | None:
    """Return the entry of a key if it exists and is intact. ``suffix`` starts with a dot."""
    for directory in _readable_directories():
        path = _entry_path(directory, key, suffix)
        with contextlib.suppress(OSError):  # it does not exist, or is not a file
            entry = _decode(path, _read(path))
            if entry:
                tracing.log("cache", "loaded %s", path, level=tracing.DEBUG)
                return entry
            os.unlink(path)
    return None


def store(key: str, suffix: str, data: bytes, log: str = "") -> str | None:
    """Store ``data`` in the cache, or in the directory of this process; return the path.

    Returns None if no directory is writable.
    """
    log_bytes = log.encode("utf-8", "replace")
    digest = digest_of(f"{key}{suffix}".encode(), data, log_bytes)
    footer = _FOOTER.pack(len(data), len(log_bytes), digest.encode(), _MAGIC)
    content = b"".join((data, log_bytes, footer))
    location = cache_directory.locate()
    if not location.problem:
        with contextlib.suppress(OSError):  # the disk is full, or has become read-only
            path = _write_entry(location.directory, key, suffix, content)
            eviction.evict(path, len(content))
            return path
    with contextlib.suppress(OSError):
        return _write_entry(cache_directory.private_directory(), key, suffix, content)
    return None


def insert(name: str, content: bytes) -> bool:
    """Store the content of an entry's file; return False if it is damaged. Raises OSError."""
    if _decode(name, content) is None:
        return False
    location = cache_directory.locate()
    if location.problem:
        raise OSError(location.problem)
    _write_entry(location.directory, *os.path.splitext(name), content)
    return True


def write_private_file(name: str, data: bytes) -> str:
    """Write ``data`` to a new file of this process, which is removed at exit."""
    path = os.path.join(cache_directory.new_private_folder(), name)
    _write(path, data)
    return path


def _readable_directories() -> Iterator[str]:
    location, private = cache_directory.locate(), cache_directory.existing_private_directory()
    if location.readable:
        yield location.directory
    yield from cache_directory.prefilled_directories()
    if private:
        yield private


def _entry_path(directory: str, key: str, suffix: str) -> str:
    return os.path.join(directory, key[0], f"{key}{suffix}")


def _read(path: str) -> bytes:
    """Read a file of the user; renew its access time if that is old."""
    with open(path, "rb", opener=lambda name, _: os.open(name, _READ_FLAGS)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or cache_directory.is_untrusted_owner(status.st_uid):
            return b""
        if abs(time.time() - status.st_mtime) > _STALE_SECONDS and os.utime in os.supports_fd:
            with contextlib.suppress(OSError):
                os.utime(file.fileno())
        return file.read()


def _decode(path: str, content: bytes) -> Entry | None:
    if len(content) < _FOOTER.size:
        return None
    body_length = len(content) - _FOOTER.size
    data_length, log_length, digest, magic = _FOOTER.unpack_from(content, body_length)
    if magic != _MAGIC or data_length + log_length != body_length:
        return None
    data, log = content[:data_length], content[data_length:body_length]
    if digest_of(os.path.basename(path).encode(), data, log).encode() != digest:
        return None
    return Entry(path, data, log.decode("utf-8", "replace"))


def _write_entry(directory: str, key: str, suffix: str, content: bytes) -> str:
    path, folder = _entry_path(directory, key, suffix), os.path.join(directory, "new")
    temporary = os.path.join(folder, f"{os.getpid()}-{os.urandom(8).hex()}")
    try:
        _write(temporary, content)
    except FileNotFoundError:  # the first entry, or the directory was removed
        cache_directory.create(folder)
        _write(temporary, content)
    try:
        _move_into_place(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _remove_stale_files(folder)
    return path


def _move_into_place(temporary: str, path: str) -> None:
    try:
        _publish(temporary, path)
    except FileNotFoundError:
        cache_directory.create(os.path.dirname(path))
        _publish(temporary, path)
    except IsADirectoryError:
        os.rmdir(path)
        _publish(temporary, path)


def _publish(temporary: str, path: str) -> None:
    """Rename a file, unless another process has published the entry.

    Another machine may have loaded that file from a network file system, which would lose it.
    """
    with contextlib.suppress(OSError):
        if _decode(path, _read(path)):
            os.unlink(temporary)
            return
    os.replace(temporary, path)


def _write(path: str, data: bytes) -> None:
    handle = os.open(path, _WRITE_FLAGS, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def _remove_stale_files(folder: str) -> None:
    """Remove temporary files of processes that died: no write takes an hour."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if abs(time.time() - os.stat(path).st_mtime) > _STALE_SECONDS:
                os.unlink(path)

"""Store Python objects in the disk cache for later processes.

Keys contain the state of the source files of pycu2c and the version of Python, so that an edited
compiler never loads the entries of an earlier one.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import sys
from collections.abc import Iterator
from typing import Any

from pycu2c.base.hashing import digest_of
from pycu2c.base.lazy_imports import IMPORT_TIME
from pycu2c.toolchain.cache import artifact_store, cache_directory

ENABLED = True  # False in tests, which compile everything
_PACKAGE_DIRECTORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_SUFFIX = ".pickle"


def load(key: str) -> Any:
    """Return the object of a key, or None."""
    state = _state()
    entry = artifact_store.load(_full_key(key, state), _SUFFIX) if state else None
    return pickle.loads(entry.data) if entry else None


@contextlib.contextmanager
def process_lock(key: str) -> Iterator[None]:
    """Let one process of this machine make the object of a key in a ``with``."""
    state = _state()
    if state is None:
        yield
        return
    with artifact_store.process_lock(_full_key(key, state), _SUFFIX):
        yield


def store(key: str, value: object) -> None:
    """Store an object other than None."""
    state = _state()
    if state:
        artifact_store.store(_full_key(key, state), _SUFFIX, pickle.dumps(value))


def _full_key(key: str, state: str) -> str:
    return artifact_store.key_of(key, state, sys.version)


def _state() -> str | None:
    """Return the state of the package; None if nothing is loaded or stored."""
    try:
        return _package_state() if ENABLED else None
    except OSError:  # such as too many open files
        return None


@functools.cache
def _package_state() -> str | None:
    """Return a digest of the source files of pycu2c.

    It is cached by their paths, times and sizes, so that installations of one version share
    entries, such as those of container images. None if a file is newer than the import of the
    package, which may have loaded an older text.
    """
    files = sorted(_source_files(_PACKAGE_DIRECTORY), key=lambda entry: entry.path)
    states = [(file.path, file.stat()) for file in files]
    newest = max(max(status.st_mtime, status.st_ctime) for _, status in states)
    if newest > IMPORT_TIME:
        return None
    times = [f"{path} {status.st_mtime_ns} {status.st_size}" for path, status in states]
    if not cache_directory.locate().readable:
        return "\n".join(times)
    key = artifact_store.key_of("package", *times)
    paths = [path for path, _ in states]
    return artifact_store.load_or_make(key, ".txt", lambda: (_digest(paths), "")).data.decode()


def _digest(paths: list[str]) -> bytes:
    """Return a digest of the names, relative to the package, and of the contents of files."""
    parts = []
    for path in paths:
        with open(path, "rb") as file:
            parts += [os.path.relpath(path, _PACKAGE_DIRECTORY).encode(), file.read()]
    return digest_of(*parts).encode()


def _source_files(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as scanned:
        entries = list(scanned)  # so that one folder is open at a time
    for entry in entries:
        if entry.name.endswith((".py", ".h", ".cuh")):
            yield entry
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _source_files(entry.path)

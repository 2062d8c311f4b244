"""Locate the disk cache, and create the temporary directory of this process.

Cached code is executed, so a directory that other users can write is not used. The check runs once
per process and setting: the arguments of the cached functions are all inputs of the check.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator

from pycu2c.base.errors import environment_setting
from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass

SCHEMA = 4  # increase it when the format of entries or of keys changes

_ON_VALUES, _OFF_VALUES = ("1", "on", "yes", "true"), ("0", "off", "no", "false")


@dataclass(frozen=True, slots=True)
class CacheLocation:
    """A directory for entries.

    ``problem`` says why entries cannot be written; ``readable``, whether they can be loaded.
    """

    directory: str
    problem: str = ""
    readable: bool = True


def locate() -> CacheLocation:
    """Return the directory of the cache; create it if it does not exist."""
    return _locate(*_settings())


class _ThreadOverride(threading.local):
    directory: str | None = None  # "" disables the cache


_OVERRIDE = _ThreadOverride()


@contextlib.contextmanager
def override(directory: str) -> Iterator[None]:
    """Use another cache directory in the calling thread, in a ``with``; none if it is empty."""
    previous = _OVERRIDE.directory
    _OVERRIDE.directory = directory
    try:
        yield
    finally:
        _OVERRIDE.directory = previous


def _settings() -> tuple[str, str, str, str]:
    """Return the values of the switch, the cache directory, the XDG directory and the home."""
    environment = os.environ
    chosen, _, _ = environment.get("PYCU2C_CACHE_DIR", "").partition(os.pathsep)
    if _OVERRIDE.directory is not None:
        switch = "" if _OVERRIDE.directory else "off"
        return switch, _OVERRIDE.directory, "", os.path.expanduser("~")
    return (
        environment_setting("PYCU2C_CACHE", _parse_switch, "0 or 1", ""),
        chosen,
        environment.get("XDG_CACHE_HOME", ""),
        os.path.expanduser("~"),
    )


def prefilled_directories() -> tuple[str, ...]:
    """Return the directories of PYCU2C_CACHE_DIR after the first one, which are only read."""
    _, _, others = os.environ.get("PYCU2C_CACHE_DIR", "").partition(os.pathsep)
    return () if _settings()[0] or _OVERRIDE.directory is not None else _trusted(others)


@functools.lru_cache(maxsize=8)
def _trusted(paths: str) -> tuple[str, ...]:
    configured = (_configured_path(path, "", "") for path in paths.split(os.pathsep) if path)
    directories = (os.path.realpath(path) for path in configured if path)
    return tuple(d for d in directories if os.path.isdir(d) and not _trust_problem(d))


def _parse_switch(text: str) -> str:
    """Return the text if it disables the cache, an empty text if it enables it."""
    if text.lower() not in (*_ON_VALUES, *_OFF_VALUES):
        raise ValueError(text)
    return text if text.lower() in _OFF_VALUES else ""


@functools.lru_cache(maxsize=8)
def _locate(switch: str, chosen: str, xdg: str, home: str) -> CacheLocation:
    path = _configured_path(chosen, xdg, home)
    if switch:
        return CacheLocation(path or "", f"PYCU2C_CACHE is {switch}", readable=False)
    if path is None:
        return CacheLocation("", "there is no home directory", readable=False)
    directory = os.path.realpath(path)
    problem = _creation_problem(directory) or _trust_problem(directory)
    if problem:
        return CacheLocation(directory, problem, readable=False)
    if not os.access(directory, os.W_OK):
        return CacheLocation(directory, f"{directory} cannot be written")
    return CacheLocation(directory)


def _configured_path(chosen: str, xdg: str, home: str) -> str | None:
    version = f"v{SCHEMA}"
    if chosen:
        return os.path.join(os.path.abspath(os.path.expanduser(chosen)), version)
    if os.path.isabs(xdg):  # the XDG rules: a relative one is ignored
        return os.path.join(xdg, "pycu2c", version)
    if not os.path.isabs(home) or home == os.sep:  # the user has no home directory
        return None
    return os.path.join(home, ".cache", "pycu2c", version)


def create(directory: str) -> None:
    """Create a directory and its parents with mode 0700.

    ``os.makedirs`` would apply the umask alone to the parents.
    """
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        create(os.path.dirname(directory))
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, 0o700)


# ---- trust ---------------------------------------------------------------------------------


def _creation_problem(directory: str) -> str:
    try:
        create(directory)
        os.listdir(directory)
    except OSError as error:
        return f"{directory} cannot be used: {error.strerror}"
    return ""


def _trust_problem(directory: str) -> str:
    """Say why another user could have placed code in a directory; empty if none could.

    Users that can write a parent directory can replace the directory.
    """
    if os.name != "posix":
        return ""
    if os.stat(directory).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{directory} can be written by others, so code in it cannot be trusted"
    for folder in _with_parents(directory):
        status = os.stat(folder)
        if is_untrusted_owner(status.st_uid):
            return f"{folder} belongs to another user, so code in {directory} cannot be trusted"
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            return f"{folder} can be written by others, so code in {directory} cannot be trusted"
    return ""


def _with_parents(directory: str) -> Iterator[str]:
    """Yield a directory and its parents."""
    yield directory
    while (parent := os.path.dirname(directory)) != directory:
        directory = parent
        yield directory


def is_untrusted_owner(user: int) -> bool:
    """Return whether a file's owner is neither the current user nor root."""
    return user not in (0, _user()) and not (user == _OVERFLOW_UID and _in_user_namespace())


def _user() -> int:
    """Return the effective user. On Windows it is 0, as the owner of all files."""
    user: int = getattr(os, "geteuid", lambda: 0)()
    return user


_OVERFLOW_UID = 65534  # of owners without a mapping into the user namespace, such as root


@functools.cache
def _in_user_namespace() -> bool:
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return file.read().split() != ["0", "0", "4294967295"]
    except OSError:
        return False


# ---- network file systems ------------------------------------------------------------------

_REMOTE_TYPES = (
    *("nfs", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb", "9p", "afs", "orangefs", "panfs"),
    "fuse.",
)
_MOUNTS = "/proc/self/mountinfo"


def is_remote(path: str) -> bool:
    """Return whether another machine may remove the contents of a file that is mapped here.

    A process that runs code of such a file would get SIGBUS.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError, UnicodeEncodeError):
            device = os.stat(path).st_dev
            return _is_remote_device(f"{os.major(device)}:{os.minor(device)}")
    return False


@functools.lru_cache(maxsize=8)
def _is_remote_device(numbers: str) -> bool:
    with contextlib.suppress(OSError), open(_MOUNTS, encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            fields, _, system = line.partition(" - ")
            if fields.split()[2] == numbers:
                return system.startswith(_REMOTE_TYPES)
    return False


# ---- the directory of this process ---------------------------------------------------------


_PRIVATE_DIRECTORIES: dict[int, str] = {}  # by process: a forked child creates its own


def private_directory() -> str:
    """Return the temporary directory of this process, which is removed at exit.

    Raises OSError if no directory is writable.
    """
    process = os.getpid()
    found = _PRIVATE_DIRECTORIES.get(process)
    if found is None or not os.path.isdir(found):
        found = tempfile.mkdtemp(prefix="pycu2c-run-")
        _PRIVATE_DIRECTORIES[process] = found
        atexit.register(_remove_at_exit, found, process)
    return found


def new_private_folder() -> str:
    """Create a folder in the temporary directory of this process."""
    return tempfile.mkdtemp(dir=private_directory())


def entry_lock(path: str) -> str:
    """Return the path of the lock for an entry.

    It is in a temporary folder, which the processes of one machine share: locks of network file
    systems may be missing, or block without limit.
    """
    name = f"pycu2c-lock-{digest_of(path.encode('utf-8', 'surrogatepass'))[:32]}"
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError:  # none is writable
        folder = os.curdir
    return os.path.join(folder, name)


def existing_private_directory() -> str | None:
    """Return the temporary directory of this process if it has been created."""
    return _PRIVATE_DIRECTORIES.get(os.getpid())


def _remove_at_exit(directory: str, process: int) -> None:
    if os.getpid() == process:
        remove_tree(directory)


def remove_tree(directory: str) -> None:
    """Remove a directory and its contents, ignoring errors."""
    shutil.rmtree(directory, ignore_errors=True)


def sibling_folder(name: str) -> str:
    """Create a folder beside the cache, or in the temporary directory of this process."""
    found = locate()
    if not found.problem:
        with contextlib.suppress(OSError):
            folder = os.path.join(os.path.dirname(found.directory), name)
            create(folder)
            return folder
    folder = os.path.join(private_directory(), name)
    create(folder)
    return folder

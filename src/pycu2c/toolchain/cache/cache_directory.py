"""Where compiled code may lie on disk: the cache's directory, and one of this process alone.

Code that is found there is run, so what others may write is not used. That is looked at once in a
process; the arguments of what is remembered are what the answer depends on. Knows no entries.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import os
import stat
import time
from _thread import _local as ThreadLocal  # ``threading``, which has it too, imports much
from collections.abc import Callable, Iterator

from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import file_locks

SCHEMA = 4  # raise it when the form of entries or of keys changes

_PREFIX, _ALIVE = "pycu2c-run-", "alive"  # of directories of one process; what it holds a lock on
_OFF = ("0", "off", "no", "false")


@dataclass(frozen=True, slots=True)
class Place:
    """A directory for entries. ``problem`` says why nothing is kept in it, ``readable`` whether
    what is there may be used."""

    directory: str
    problem: str = ""
    readable: bool = True


def place() -> Place:
    """Where the cache is. Makes it, if it is not there."""
    return _place_of(*_said())


def place_so_far() -> Place:
    """Where the cache is, or would be: nothing is made."""
    wanted = _wanted(*_said()[1:])
    missing = wanted is not None and not os.path.lexists(os.path.realpath(wanted))
    return _place_of.__wrapped__(*_said(), makes=False) if missing else place()


class _Thread(ThreadLocal):
    chosen: str | None = None  # "": none


_THREAD = _Thread()


@contextlib.contextmanager
def within(directory: str) -> Iterator[None]:
    """Let the calling thread keep what it makes in another directory, in a ``with``; in none, if
    its name is empty."""
    before = _THREAD.chosen
    _THREAD.chosen = directory
    try:
        yield
    finally:
        _THREAD.chosen = before


def _said() -> tuple[str, str, str, str]:
    """What the environment says of it, or the calling thread."""
    environment = os.environ
    if _THREAD.chosen is not None:
        return ("" if _THREAD.chosen else "off"), _THREAD.chosen, "", os.path.expanduser("~")
    return (
        environment.get("PYCU2C_CACHE", ""),
        environment.get("PYCU2C_CACHE_DIR", ""),
        environment.get("XDG_CACHE_HOME", ""),
        os.path.expanduser("~"),
    )


@functools.lru_cache(maxsize=8)
def _place_of(switch: str, chosen: str, xdg: str, home: str, makes: bool = True) -> Place:
    wanted = _wanted(chosen, xdg, home)
    if switch.lower() in _OFF:
        return Place(wanted or "", f"PYCU2C_CACHE is {switch}", readable=False)
    if wanted is None:
        return Place("", "there is no home directory", readable=False)
    directory = os.path.realpath(wanted)
    if makes:
        problem = _cannot_be_made(directory) or _untrusted(directory)
    else:
        problem = _could_not_be_made(directory)
    if problem or not makes:
        return Place(directory, problem, readable=False)
    if not os.access(directory, os.W_OK):
        return Place(directory, f"{directory} cannot be written")
    return Place(directory)


def _wanted(chosen: str, xdg: str, home: str) -> str | None:
    version = f"v{SCHEMA}"
    if chosen:
        return os.path.join(os.path.abspath(os.path.expanduser(chosen)), version)
    if os.path.isabs(xdg):  # the XDG rules: a relative one is ignored
        return os.path.join(xdg, "pycu2c", version)
    if not os.path.isabs(home) or home == os.sep:  # what a user without one has for it
        return None
    return os.path.join(home, ".cache", "pycu2c", version)


def make(directory: str) -> None:
    """A directory that only its owner may enter, and those above it. ``os.makedirs`` would give
    these the permissions that are usual."""
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make(os.path.dirname(directory))
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, 0o700)


# ---- whom the directory is trusted to ------------------------------------------------------


def _cannot_be_made(directory: str) -> str:
    try:
        make(directory)
        os.listdir(directory)
    except OSError as error:
        return f"{directory} cannot be used: {error.strerror}"
    return ""


def _could_not_be_made(directory: str) -> str:
    """The same of one that is not there: what is above it says so."""
    above = next(filter(os.path.lexists, _upwards(directory)))
    if not os.path.isdir(above):
        return f"{directory} cannot be used: {os.strerror(errno.ENOTDIR)}"
    if not os.access(above, os.W_OK | os.X_OK):
        return f"{directory} cannot be used: {os.strerror(errno.EACCES)}"
    return _in_foreign_hands(above)


def _untrusted(directory: str) -> str:
    """Why code in a directory may be somebody else's; empty if it is not. Whoever may write in
    one of those above it can put another in its place."""
    if os.name != "posix":
        return ""
    if os.stat(directory).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{directory} can be written by others, so code in it cannot be trusted"
    return _in_foreign_hands(directory)


def _in_foreign_hands(directory: str) -> str:
    """Why what is below a directory may be somebody else's."""
    if os.name != "posix":
        return ""
    for folder in _upwards(directory):
        status = os.stat(folder)
        if is_foreign(status.st_uid):
            return f"{folder} belongs to another user, so code in {directory} cannot be trusted"
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            return f"{folder} can be written by others, so code in {directory} cannot be trusted"
    return ""


def _upwards(directory: str) -> Iterator[str]:
    """A directory and those above it."""
    yield directory
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        yield directory


def is_foreign(user: int) -> bool:
    """Whether what belongs to a user is neither ours nor the system's."""
    return user not in (0, os.geteuid()) and not (user == _UNNAMED and _in_namespace())


_UNNAMED = 65534  # in a namespace of users: one from outside of it, such as the system's


@functools.cache
def _in_namespace() -> bool:
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return file.read().split() != ["0", "0", "4294967295"]
    except OSError:
        return False


# ---- this process alone --------------------------------------------------------------------


_OWN: dict[int, str] = {}  # by process: a forked child gets its own, and removes only that


def private_directory() -> str:
    """A directory that is nobody else's and goes when the process does; if that is killed, when a
    later one makes its own. OSError where there is no room for one."""
    process = os.getpid()
    found = _OWN.get(process)
    if found is None or not os.path.isdir(found):
        found = _made_for_now()
        file_locks.hold(os.path.join(found, _ALIVE))
        _OWN[process] = found
        atexit.register(_remove_tree, found, process)
        _remove_those_of_the_dead(os.path.dirname(found))
    return found


def new_folder() -> str:
    """A new folder in there."""
    folder = os.path.join(private_directory(), os.urandom(8).hex())
    os.mkdir(folder, 0o700)
    return folder


# where temporary files go, as for ``tempfile``, whose import takes as long as linking a kernel does
_SAID_BY = ("TMPDIR", "TEMP", "TMP")
_USUAL = ("/tmp", "/var/tmp", "/usr/tmp")


def _made_for_now() -> str:
    """A new directory among temporary files."""
    said = [os.environ[name] for name in _SAID_BY if os.environ.get(name)]
    problem: OSError | None = None
    for folder in (*map(os.path.abspath, said), *_USUAL):
        made = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}")
        try:
            os.mkdir(made, 0o700)
            return made
        except OSError as error:
            problem = problem or error
    assert problem
    raise problem


def private_directory_so_far() -> str | None:
    """That of this process, if it needed one."""
    return _OWN.get(os.getpid())


def _remove_tree(directory: str, process: int) -> None:
    if os.getpid() == process:
        remove(directory)


def remove(directory: str) -> None:
    """With what is in it, as far as can be; links are removed, not followed."""
    for folder, _, files in os.walk(directory, topdown=False):
        for name in files:
            _tried(os.unlink, os.path.join(folder, name))
        with contextlib.suppress(OSError):
            links = [entry.path for entry in os.scandir(folder) if entry.is_symlink()]
            for path in links:
                _tried(os.unlink, path)
        _tried(os.rmdir, folder)


def _tried(act: Callable[[str], None], path: str) -> None:
    with contextlib.suppress(OSError):
        act(path)


def _remove_those_of_the_dead(folder: str) -> None:
    """A process that is alive holds a lock in its directory."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_dead(entry.path, entry.stat())


def _remove_if_dead(directory: str, status: os.stat_result) -> None:
    is_new = abs(time.time() - status.st_mtime) < 60  # it may have no lock yet
    if is_new or status.st_uid != os.geteuid():
        return
    with contextlib.suppress(OSError):  # one that died before it had put anything there
        os.rmdir(directory)
    if file_locks.is_free(os.path.join(directory, _ALIVE)):
        remove(directory)


def private_folder(name: str) -> str:
    """A folder for what a compiler unpacks or refuses: beside the cache, or of this process."""
    found = place()
    if not found.problem:
        with contextlib.suppress(OSError):
            folder = os.path.join(os.path.dirname(found.directory), name)
            make(folder)
            return folder
    folder = os.path.join(private_directory(), name)
    make(folder)
    return folder

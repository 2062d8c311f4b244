"""C compilers at work: one text, one library. Imported where something is not in the cache."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from pycu2c.base.records import dataclass, replace
from pycu2c.toolchain import rejected_source, subprocesses
from pycu2c.toolchain.cache import artifact_store as disk
from pycu2c.toolchain.cache import cache_directory
from pycu2c.toolchain.cc.discovery import Compiler
from pycu2c.toolchain.cc.flags import LINK, libraries_for
from pycu2c.toolchain.toolchain_errors import (
    LinkError,
    RejectedCode,
    ToolchainError,
    Unlinked,
    missing_in,
)

Words: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

# the text is no file: one that begins before it has all of it begins earlier
READ = ("-x", "c", "-", "-x", "none")
_NAME = "kernel.c"  # what messages call it

_PROBE = """\
#include <math.h>
#include <stdint.h>
double pycu2c_probe(double x, int64_t n) { return sqrt(x) + (double)n; }
"""


@dataclass(frozen=True, slots=True)
class Job:
    """What the compiler is asked for. ``files`` are the user's own."""

    compiler: Compiler
    text: str
    entry: str
    flags: tuple[str, ...]
    files: tuple[str, ...] = ()

    @property
    def words(self) -> Words:
        libraries = libraries_for(self.text, self.compiler.family, self.files)
        return words_of(self.compiler, self.flags, (*self.files, *libraries))


def words_of(compiler: Compiler, flags: tuple[str, ...], libraries: tuple[str, ...]) -> Words:
    """What the compiler is told before and after the text."""
    return (*compiler.command, *flags, *LINK), libraries


def stored(key: str, job: Job) -> disk.Entry:
    """The library in the cache, once this process or another has made it."""
    with _room_for_files():
        return disk.made(key, ".so", lambda: compiled(job))


def not_stored(job: Job) -> disk.Entry:
    """A library for this process alone."""
    with _room_for_files():
        data, log = compiled(job)
        return disk.Entry(disk.keep_until_exit(f"{job.entry}.so", data), data, log)


@contextmanager
def _room_for_files() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolchainError(
            f"a kernel could not be compiled: {error}. Compiling needs a folder for temporary "
            "files: make room in it, or name another by the environment variable TMPDIR"
        ) from error


class _Build:
    """A compiler that has been started, and where its library will be."""

    __slots__ = ("_folder", "path", "program", "words")

    def __init__(self, words: Words) -> None:
        self.words, (before, after) = words, words
        self._folder = cache_directory.new_folder()
        self.path = os.path.join(self._folder, "kernel.so")
        try:
            self.program = subprocesses.Started((*before, "-o", self.path, *READ, *after))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        cache_directory.remove(self._folder)


_EXPECTING: list[_Build] = []  # whose texts are being generated


@contextmanager
def expected(words: Callable[[], Words]) -> Iterator[None]:
    """A text is expected of the body: a compiler that is told these gets ready for it."""
    build: _Build | None = None
    with contextlib.suppress(ToolchainError, OSError):  # it is said when there is a text
        build = _Build(words())
        _EXPECTING.append(build)
    try:
        yield
    finally:
        if build and _took(build):  # nobody has told it what it needs
            build.program.drop()
            build.close()


def _build_of(words: Words) -> _Build:
    for build in tuple(_EXPECTING):
        if build.words == words and _took(build):
            return build
    return _Build(words)


def _took(build: _Build) -> bool:
    """Whether it was still there to take: threads take one another's."""
    try:
        _EXPECTING.remove(build)
    except ValueError:
        return False
    return True


def compiled(job: Job) -> tuple[bytes, str]:
    """The library, and what the compiler said."""
    compiler, build = job.compiler, _build_of(job.words)
    try:
        ran = build.program.finish(job.text)
        if ran.code == 0:
            with open(build.path, "rb") as made:
                return made.read(), ran.said
    finally:
        build.close()
    probe = _probed(compiler, job.flags)
    if os.strerror(errno.ENOSPC) in ran.said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), cache_directory.private_directory())
    if ran.code < 0 or "Killed" in ran.said:
        raise ToolchainError(f"the C compiler `{compiler}` was killed: is there enough memory?")
    if probe.code != 0 and _across(job):  # not every installation of a compiler can do that
        return compiled(replace(job, flags=job.flags[: -len(_across(job))]))
    if probe.code != 0:
        raise ToolchainError(
            f"the C compiler `{compiler}` does not work: it cannot build a shared library "
            "of one function. Repair it, or name another by the environment variable "
            f"PYCU2C_CC.\n{probe.said.strip()}"
        )
    raise _refusal(job, ran.said.replace("<stdin>:", f"{_NAME}:"))


def _across(job: Job) -> tuple[str, ...]:
    """Those of its flags that have it compile several files as one."""
    across = job.compiler.family.across_files
    return across if across and job.flags[-len(across) :] == across else ()


def _refusal(job: Job, said: str) -> ToolchainError | RejectedCode:
    """The error to raise: of the user's files, or of the text."""
    missing = missing_in(said)
    if missing:
        return Unlinked(missing)
    command = shlex.join((*job.compiler.command, *job.flags))
    found = rejected_source.refused(command, f"{job.entry}.c", job.text, said)
    named = [path for path in job.files if path in said]
    if named and not any(complaint.file == _NAME for complaint in found.complaints):
        return LinkError(f"{', '.join(named)} cannot be linked:\n{said.strip()}")
    return found


def _probed(compiler: Compiler, flags: tuple[str, ...]) -> subprocesses.Ran:
    """Whether it compiles what any compiler does."""
    build = _Build(words_of(compiler, flags, libraries_for(_PROBE, compiler.family)))
    try:
        return build.program.finish(_PROBE)
    finally:
        build.close()

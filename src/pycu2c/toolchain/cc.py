"""C text -> shared object, through the compiler of the system. Knows nothing of kernels."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from pycu2c.lazy import lazy_module
from pycu2c.linked import for_target
from pycu2c.options import DEFAULT, Options
from pycu2c.records import dataclass, replace
from pycu2c.toolchain import cache as disk
from pycu2c.toolchain import places
from pycu2c.toolchain.binary import (
    Binary,
    LinkError,
    RejectedCode,
    ToolchainError,
    Unlinked,
    missing_in,
)
from pycu2c.toolchain.compilers import Compiler, find_compiler, machine, settings

if TYPE_CHECKING:
    import shlex

    from pycu2c.toolchain import own_files, processes, refusing
else:  # where all is in the cache, nothing is run
    shlex = lazy_module("shlex")
    own_files = lazy_module("pycu2c.toolchain.own_files")
    processes = lazy_module("pycu2c.toolchain.processes")
    refusing = lazy_module("pycu2c.toolchain.refusing")

Words: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

FLAGS: tuple[str, ...] = (
    "-std=gnu11",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fno-strict-aliasing",  # arguments, and arrays in shared memory, may be views of one memory
    "-fPIC",
    "-fopenmp-simd",
    # what C takes for a warning and users who write some would find at the first launch, or never
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=return-type",
)
# NaN and infinity keep their meaning, as with nvcc. Not -ffast-math: with that, some versions of
# gcc switch denormal numbers off for the whole process that loads the library.
_FAST = ("-fassociative-math", "-freciprocal-math", "-fno-signed-zeros")
_LINK = ("-pipe", "-shared", "-pthread")
# the text is no file: one that begins before it has all of it begins earlier
_READ = ("-x", "c", "-", "-x", "none")
_NAME = "kernel.c"  # what messages call it
_ALL_DEFINED = ("-Wl,-z,defs",) if sys.platform == "linux" else ()
# headers of functions that are in every process
_EVERYWHERE = frozenset(("stdbool.h", "stddef.h", "stdint.h", "string.h"))
_WARNINGS = ("-Wall", "-Wextra", "-Werror")

_PROBE = """\
#include <math.h>
#include <stdint.h>
double pycu2c_probe(double x, int64_t n) { return sqrt(x) + (double)n; }
"""


def compile(text: str, entry: str, *, options: Options = DEFAULT, cache: bool = True) -> Binary:
    """Compile C to a shared object. ``cache=False`` neither reads nor writes the disk cache."""
    compiler, files = find_compiler(), for_target(options.link, "c")
    across = compiler.family.across_files if any(f.endswith(".c") for f in files) else ()
    flags, libraries = flags_for(text, options, compiler), _libraries(text, compiler, files)
    job = _Job(compiler, text, entry, (*flags, *across), files)
    words = (*compiler.command, compiler.version, *job.flags, *_LINK, *libraries)
    identities = map(own_files.identity, files)
    key = disk.key_of(text, *words, settings(), machine(), *identities)
    with _room_for_files():
        if cache:
            made = disk.made(key, ".so", lambda: _compiled(job))
            return Binary("so", entry, text, made.data, made.path, made.log, options.link)
        data, log = _compiled(job)
        path = disk.keep_until_exit(f"{entry}.so", data)
        return Binary("so", entry, text, data, path, log, options.link)


@dataclass(frozen=True, slots=True)
class _Job:
    """What the compiler is asked for. ``files`` are the user's own."""

    compiler: Compiler
    text: str
    entry: str
    flags: tuple[str, ...]
    files: tuple[str, ...] = ()

    @property
    def words(self) -> Words:
        libraries = _libraries(self.text, self.compiler, self.files)
        return _words(self.compiler, self.flags, (*self.files, *libraries))


@contextmanager
def _room_for_files() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolchainError(
            f"a kernel could not be compiled: {error}. Compiling needs a folder for temporary "
            "files: make room in it, or name another by the environment variable TMPDIR"
        ) from error


def flags_for(text: str, options: Options, compiler: Compiler | None = None) -> tuple[str, ...]:
    """What the compiler is told for a text."""
    compiler = compiler or find_compiler()
    return (*general_flags(options, compiler), *_half_flags(text), *_step_flags(text))


def general_flags(options: Options, compiler: Compiler) -> tuple[str, ...]:
    """What it is told whatever the text."""
    lines = ("-g1",) if options.lineinfo else ()
    return (*FLAGS, *compiler.flags, *_arithmetic_flags(options, compiler), *lines)


def _arithmetic_flags(options: Options, compiler: Compiler) -> tuple[str, ...]:
    contract = f"-ffp-contract={'fast' if options.fmad else 'off'}"
    if options.fastmath:
        return (contract, *_FAST)
    return (contract,) if options.fmad else (contract, *compiler.to_the_bit)


def _half_flags(text: str) -> tuple[str, ...]:
    """Halves are rounded after every operation: a processor that computes in them must not
    contract a product and a sum of them."""
    return ("-ffp-contract=off",) if "_Float16" in text else ()


def _step_flags(text: str) -> tuple[str, ...]:
    """Where threads go in steps, each begins by a switch. Lanes mostly begin at one place, so that
    branches are foreseen; a jump by a table is not, and takes twice the time of the step."""
    return ("-fno-jump-tables",) if "switch (self->pc)" in text else ()


def _libraries(text: str, compiler: Compiler, files: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What stands after the file that needs it. To look through all of C's libraries would take
    a fifth of the time; generated text needs the mathematical one at most."""
    if files:
        folders = dict.fromkeys(os.path.dirname(f) for f in files if f.endswith(".so"))
        return ("-lm", *_ALL_DEFINED, *(f"-Wl,-rpath,{folder}" for folder in folders))
    included = frozenset(_included(text)) - _EVERYWHERE
    alone = compiler.family.alone if included <= {"math.h"} else ()
    return ("-lm", *alone) if included or not alone else alone


def _included(text: str) -> Iterator[str]:
    """The headers. (To compile a regular expression would take longer.)"""
    _, *parts = f"\n{text}".split("\n#include <")
    yield from (part.partition(">")[0] for part in parts)


def check_warnings(text: str) -> str:
    """What the compiler has against a text when every warning counts; empty if nothing."""
    compiler = find_compiler()
    words = (*warning_flags(compiler), "-S", "-o", os.devnull, *_READ)
    ran = processes.run((*compiler.command, *words), text)
    return "" if ran.code == 0 and not ran.said else ran.said or "it failed silently"


def warning_flags(compiler: Compiler) -> tuple[str, ...]:
    """What it is told when every warning counts."""
    return (*FLAGS, *compiler.flags, *_WARNINGS, *compiler.family.not_warnings)


# ---- one text, one library -----------------------------------------------------------------


class _Build:
    """A compiler that has been started, and where its library will be."""

    __slots__ = ("_folder", "path", "program", "words")

    def __init__(self, words: Words) -> None:
        self.words, (before, after) = words, words
        self._folder = places.new_folder()
        self.path = os.path.join(self._folder, "kernel.so")
        try:
            self.program = processes.Started((*before, "-o", self.path, *_READ, *after))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        places.remove(self._folder)


_EXPECTING: list[_Build] = []  # whose texts are being generated


@contextmanager
def expected(options: Options) -> Iterator[None]:
    """A text is expected of the body: a compiler gets ready for it. That is a sixth of its time."""
    build: _Build | None = None
    with contextlib.suppress(ToolchainError, OSError):  # it is said when there is a text
        compiler = find_compiler()
        build = _Build(_words(compiler, general_flags(options, compiler), compiler.family.alone))
        _EXPECTING.append(build)
    try:
        yield
    finally:
        if build in _EXPECTING:  # there was none, or another had been told what it needs
            _EXPECTING.remove(build)
            build.program.drop()
            build.close()


def _words(compiler: Compiler, flags: tuple[str, ...], libraries: tuple[str, ...]) -> Words:
    """What the compiler is told before and after the text."""
    return (*compiler.command, *flags, *_LINK), libraries


def _build_of(words: Words) -> _Build:
    for build in tuple(_EXPECTING):
        if build.words == words:
            with contextlib.suppress(ValueError):  # another thread has taken it
                _EXPECTING.remove(build)
                return build
    return _Build(words)


def _compiled(job: _Job) -> tuple[bytes, str]:
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
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), places.private_directory())
    if ran.code < 0 or "Killed" in ran.said:
        raise ToolchainError(f"the C compiler `{compiler}` was killed: is there enough memory?")
    if probe.code != 0 and _across(job):  # not every installation of a compiler can do that
        return _compiled(replace(job, flags=job.flags[: -len(_across(job))]))
    if probe.code != 0:
        raise ToolchainError(
            f"the C compiler `{compiler}` does not work: it cannot build a shared library "
            "of one function. Repair it, or name another by the environment variable "
            f"PYCU2C_CC.\n{probe.said.strip()}"
        )
    raise _refusal(job, ran.said.replace("<stdin>:", f"{_NAME}:"))


def _across(job: _Job) -> tuple[str, ...]:
    """Those of its flags that have it compile several files as one."""
    across = job.compiler.family.across_files
    return across if across and job.flags[-len(across) :] == across else ()


def _refusal(job: _Job, said: str) -> ToolchainError | RejectedCode:
    """The error to raise: of the user's files, or of the text."""
    missing = missing_in(said)
    if missing:
        return Unlinked(missing)
    command = shlex.join((*job.compiler.command, *job.flags))
    found = refusing.refused(command, f"{job.entry}.c", job.text, said)
    named = [path for path in job.files if path in said]
    if named and not any(complaint.file == _NAME for complaint in found.complaints):
        return LinkError(f"{', '.join(named)} cannot be linked:\n{said.strip()}")
    return found


def _probed(compiler: Compiler, flags: tuple[str, ...]) -> processes.Ran:
    """Whether it compiles what any compiler does."""
    build = _Build(_words(compiler, flags, _libraries(_PROBE, compiler)))
    try:
        return build.program.finish(_PROBE)
    finally:
        build.close()

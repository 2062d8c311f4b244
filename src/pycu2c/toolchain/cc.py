"""C text -> shared object, through the compiler of the system. Knows nothing of kernels."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_module
from pycu2c.options import DEFAULT, Options
from pycu2c.toolchain import cache as disk
from pycu2c.toolchain import places
from pycu2c.toolchain.binary import Binary, ToolchainError
from pycu2c.toolchain.compilers import Compiler, find_compiler, machine, settings

if TYPE_CHECKING:
    import shlex

    from pycu2c.toolchain import processes, refusing
else:  # where all is in the cache, nothing is run
    shlex = lazy_module("shlex")
    processes = lazy_module("pycu2c.toolchain.processes")
    refusing = lazy_module("pycu2c.toolchain.refusing")

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
    compiler = find_compiler()
    flags = flags_for(text, options, compiler)
    libraries = _libraries(text, compiler)
    words = (*compiler.command, compiler.version, *flags, *_LINK, *libraries)
    key = disk.key_of(text, *words, settings(), machine())
    with _room_for_files():
        if cache:
            made = disk.made(key, ".so", lambda: _compiled(compiler, text, entry, flags))
            return Binary("so", entry, text, made.data, made.path, made.log)
        data, log = _compiled(compiler, text, entry, flags)
        return Binary("so", entry, text, data, disk.keep_until_exit(f"{entry}.so", data), log)


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


def _libraries(text: str, compiler: Compiler) -> tuple[str, ...]:
    """What stands after the file that needs it. To look through all of C's libraries would take
    a fifth of the time; generated text needs the mathematical one at most."""
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

    def __init__(self, words: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
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


def _words(
    compiler: Compiler, flags: tuple[str, ...], libraries: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the compiler is told before and after the text."""
    return (*compiler.command, *flags, *_LINK), libraries


def _build_of(words: tuple[tuple[str, ...], tuple[str, ...]]) -> _Build:
    for build in tuple(_EXPECTING):
        if build.words == words:
            with contextlib.suppress(ValueError):  # another thread has taken it
                _EXPECTING.remove(build)
                return build
    return _Build(words)


def _compiled(
    compiler: Compiler, text: str, entry: str, flags: tuple[str, ...]
) -> tuple[bytes, str]:
    build = _build_of(_words(compiler, flags, _libraries(text, compiler)))
    try:
        ran = build.program.finish(text)
        if ran.code == 0:
            with open(build.path, "rb") as made:
                return made.read(), ran.said
    finally:
        build.close()
    probe = _probed(compiler, flags)
    if os.strerror(errno.ENOSPC) in ran.said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), places.private_directory())
    if ran.code < 0 or "Killed" in ran.said:
        raise ToolchainError(f"the C compiler `{compiler}` was killed: is there enough memory?")
    if probe.code != 0:
        raise ToolchainError(
            f"the C compiler `{compiler}` does not work: it cannot build a shared library "
            "of one function. Repair it, or name another by the environment variable "
            f"PYCU2C_CC.\n{probe.said.strip()}"
        )
    said = ran.said.replace("<stdin>:", "kernel.c:")
    raise refusing.refused(shlex.join((*compiler.command, *flags)), f"{entry}.c", text, said)


def _probed(compiler: Compiler, flags: tuple[str, ...]) -> processes.Ran:
    """Whether it compiles what any compiler does."""
    build = _Build(_words(compiler, flags, _libraries(_PROBE, compiler)))
    try:
        return build.program.finish(_PROBE)
    finally:
        build.close()

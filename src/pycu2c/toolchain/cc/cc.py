"""C text -> shared object, through the compiler of the system. Knows nothing of kernels."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from pycu2c.declarations import link_files
from pycu2c.declarations.options import DEFAULT, Options
from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cache import artifact_store as disk
from pycu2c.toolchain.cc import build
from pycu2c.toolchain.cc.discovery import Compiler, find_compiler, identity
from pycu2c.toolchain.cc.flags import LINK, libraries_for
from pycu2c.toolchain.link import file_identity

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
_WARNINGS = ("-Wall", "-Wextra", "-Werror")


def compile(text: str, entry: str, *, options: Options = DEFAULT, cache: bool = True) -> Binary:
    """Compile C to a shared object. ``cache=False`` neither reads nor writes the disk cache."""
    wanted = _Wanted(text, options)
    found = disk.load(wanted.key, ".so") if cache else None
    if found is None:
        job = build.Job(wanted.compiler, text, entry, wanted.flags, wanted.files)
        found = build.stored(wanted.key, job) if cache else build.not_stored(job)
    key = wanted.key if cache else ""
    return Binary("so", entry, text, found.data, found.path, found.log, options.link, key)


def known(text: str, entry: str) -> Binary | None:
    """The same, if it has been compiled before."""
    key = _Wanted(text, DEFAULT).key
    found = disk.load(key, ".so")
    return Binary("so", entry, text, found.data, found.path, found.log, (), key) if found else None


class _Wanted:
    """Who is to compile a text and what it is told, with the user's own files; the name of what it
    makes of it."""

    __slots__ = ("compiler", "files", "flags", "key")

    def __init__(self, text: str, options: Options) -> None:
        self.compiler = compiler = find_compiler()
        self.files = files = link_files.for_target(options.link, "c") if options.link else ()
        across = compiler.family.across_files if any(f.endswith(".c") for f in files) else ()
        self.flags = (*flags_for(text, options, compiler), *across)
        words = (*self.flags, *LINK, *libraries_for(text, compiler.family, files))
        identities = [file_identity.identity(file) for file in files]
        self.key = disk.key_of(text, identity(), *words, *identities)


def expected(options: Options) -> AbstractContextManager[None]:
    """A text is expected of the body: a compiler gets ready for it. That is a sixth of its time."""

    def words() -> build.Words:
        compiler = find_compiler()
        flags = general_flags(options, compiler)
        return build.words_of(compiler, flags, compiler.family.alone)

    return build.expected(words)


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


def check_warnings(text: str) -> str:
    """What the compiler has against a text when every warning counts; empty if nothing."""
    compiler = find_compiler()
    words = (*warning_flags(compiler), "-S", "-o", os.devnull, *build.READ)
    ran = subprocesses.run((*compiler.command, *words), text)
    return "" if ran.code == 0 and not ran.said else ran.said or "it failed silently"


def warning_flags(compiler: Compiler) -> tuple[str, ...]:
    """What it is told when every warning counts."""
    return (*FLAGS, *compiler.flags, *_WARNINGS, *compiler.family.not_warnings)

"""Which C compiler there is, and what each kind of them is told. Compiles nothing itself."""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_module
from pycu2c.records import dataclass
from pycu2c.toolchain import cache

if TYPE_CHECKING:
    import importlib.util as finding
    import shlex
    import shutil

    from pycu2c.toolchain import failures, processes
else:  # where all is in the cache, nothing is run
    finding = lazy_module("importlib.util")
    shlex = lazy_module("shlex")
    shutil = lazy_module("shutil")
    failures = lazy_module("pycu2c.toolchain.failures")
    processes = lazy_module("pycu2c.toolchain.processes")

_HOW_TO_INSTALL = """\
no C compiler was found, and kernels for the CPU need one. Any of these installs one:

    sudo apt install gcc          (Debian, Ubuntu)
    sudo dnf install gcc          (Fedora, RHEL)
    brew install gcc              (macOS; or: xcode-select --install)
    pip install ziglang           (anywhere, without root)

A compiler elsewhere is named by the environment variable PYCU2C_CC."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of compiler: what it is told, and no other would understand or need."""

    flags: tuple[str, ...] = ()
    to_the_bit: tuple[str, ...] = ()  # with fmad=False, where results are equal to the bit
    not_warnings: tuple[str, ...] = ()  # what -Wall means to it that is nothing to us
    # for code in several files: a call of a function in another is as one in the same, and that it
    # is of the types that the other has is looked at
    across_files: tuple[str, ...] = ()
    # how a library is linked with its own functions alone; the rest is looked for in the process
    alone: tuple[str, ...] = ()


GCC = Family(
    flags=(
        # gcc 12 changes the order of two stores to one element where one index may wrap
        "-fno-tree-loop-distribution",
        # a loop over a block that fills shared memory is no call of memcpy: what comes next reads
        # it by vectors, which are not the pieces that memcpy writes
        "-fno-tree-loop-distribute-patterns",
    ),
    to_the_bit=("-ftrapping-math", "-frounding-math"),  # it is to keep the sign of a zero
    across_files=("-flto", "-Werror=lto-type-mismatch"),
    alone=("-nostdlib", "-lgcc") if sys.platform == "linux" else (),
)
CLANG = Family(
    flags=("-Wno-pass-failed",),  # a loop that it cannot vectorise is no news to a user
    not_warnings=("-Wno-unused-function",),  # of inline ones
)


# "the processor of this machine", by its architecture; elsewhere compilers have no such word.
# Where vectors may have 512 bits, gcc takes half of that on Intel's processors: loops over the
# threads of a block then take up to twice as long
_ON_X86 = ("-march=native", "-mprefer-vector-width=512")
# to the bit: gcc's vectoriser makes vfmaddsub of a product of complex numbers whatever
# -ffp-contract says, so that the processor must have none; and functions are the C library's
_NO_FMA = ("-mno-fma", "-mno-avx512f")
# gcc, since it knows of vectors of halves, writes moves of them that its assembler refuses
_NO_HALVES = ("-mno-avx512fp16",)
_NATIVE = {
    "x86_64": _ON_X86,
    "AMD64": _ON_X86,
    "aarch64": ("-mcpu=native",),
    "arm64": ("-mcpu=native",),
    "ppc64le": ("-mcpu=native",),
}


LINK = ("-pipe", "-shared", "-pthread")  # what makes a library of a text
_ALL_DEFINED = ("-Wl,-z,defs",) if sys.platform == "linux" else ()
# headers of functions that are in every process
_EVERYWHERE = frozenset(("stdbool.h", "stddef.h", "stdint.h", "string.h"))


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: the words that start it, and what tells one version of it from another."""

    command: tuple[str, ...]
    version: str
    target: str = ""  # the processor that it compiles for, if it is not this machine's

    def __str__(self) -> str:
        return shlex.join(self.command)

    @property
    def family(self) -> Family:
        return CLANG if "clang" in self.version.lower() else GCC  # zig's is clang

    @property
    def flags(self) -> tuple[str, ...]:
        """What it is told beside what all are."""
        native = () if self.target else _NATIVE.get(platform.machine(), ())
        makes_halves = native == _ON_X86 and self.family is GCC and self._release >= 12
        return (*native, *(_NO_HALVES if makes_halves else ()), *self.family.flags)

    @property
    def _release(self) -> int:
        """12 of ``gcc (Debian 12.2.0-14) 12.2.0``; 0 if there is no such number."""
        number = self.version.partition(") ")[2].partition(".")[0]
        return int(number) if number.isdecimal() else 0

    @property
    def to_the_bit(self) -> tuple[str, ...]:
        """What it is told where results must be equal to the bit."""
        on_x86 = (self.target or platform.machine()) in ("x86_64", "AMD64")
        return (*self.family.to_the_bit, *(_NO_FMA if on_x86 else ()))


def libraries_for(text: str, compiler: Compiler, files: tuple[str, ...] = ()) -> tuple[str, ...]:
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


# ---- which there is ------------------------------------------------------------------------


def find_compiler() -> Compiler:
    """The one in PYCU2C_CC, else CC, gcc, clang, cc, or zig's; a ToolchainError if none is."""
    environment = os.environ
    return _found(
        environment.get("PYCU2C_CC", ""), environment.get("CC", ""), environment.get("PATH", "")
    )


@functools.lru_cache(maxsize=8)
def _found(chosen: str, usual: str, path: str) -> Compiler:
    """Looked up once for each setting: the arguments are what the answer depends on."""
    if chosen:
        compiler = working(tuple(shlex.split(chosen)), path)
        if compiler is None:
            raise failures.ToolchainError(
                f"PYCU2C_CC is {chosen!r}, which cannot be run as a C compiler"
            )
        return compiler
    for command in _candidates(usual):
        compiler = working(command, path)
        if compiler:
            return compiler
    raise failures.ToolchainError(_HOW_TO_INSTALL)


def _candidates(usual: str) -> Iterator[tuple[str, ...]]:
    if usual:
        yield tuple(shlex.split(usual))
    yield from (("gcc",), ("clang",), ("cc",))
    if finding.find_spec("ziglang"):
        yield (sys.executable, "-m", "ziglang", "cc")


def split(command: str) -> tuple[str, ...]:
    """The words of a command, as a shell has them."""
    return tuple(shlex.split(command))


def working(command: tuple[str, ...], path: str) -> Compiler | None:
    """A compiler that a command starts; None if it cannot be run."""
    program = _program(command[0], path) if command else None
    if program is None:
        return None
    full = (os.path.abspath(program), *command[1:])  # it is run from other folders
    key = _key_of_version(full)
    found = cache.load(key, ".txt") if key else None
    version = found.data.decode() if found else _version(full)
    if version is None:
        return None
    if key and not found:
        cache.store(key, ".txt", version.encode())
    return Compiler(full, version)


def _program(name: str, path: str) -> str | None:
    """What ``name`` starts: as ``shutil.which``, whose module takes long to import."""
    if os.name != "posix":
        return shutil.which(name, path=path)
    for folder in [""] if os.path.dirname(name) else path.split(os.pathsep):
        full = os.path.join(folder, name)
        if os.access(full, os.X_OK) and os.path.isfile(full):
            return full
    return None


def _version(full: tuple[str, ...]) -> str | None:
    try:
        ran = processes.run((*full, "--version"))
    except OSError:
        return None
    return ran.said.strip() if ran.code == 0 else None


def _key_of_version(full: tuple[str, ...]) -> str | None:
    """Under what the version of a compiler is kept; None for what may start any: a script, a
    module of Python's."""
    try:
        status = os.stat(full[0])
        handle = os.open(full[0], os.O_RDONLY)
        try:
            is_binary = os.read(handle, 4) == b"\x7fELF"
        finally:
            os.close(handle)
    except OSError:
        return None
    real = os.path.realpath(full[0])
    if not is_binary or len(full) > 1 or "ccache" in real:
        return None
    return cache.key_of("version", full[0], real, f"{status.st_mtime_ns} {status.st_size}")


@functools.cache
def machine() -> str:
    """What ``-march=native`` and ``-lm`` mean here: built elsewhere, code may not run here."""
    names = getattr(os, "confstr_names", {})
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in names else None
    return "\n".join((platform.machine(), libc or platform.version(), *_processor()))


_SETTINGS = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")


def settings() -> str:
    """What the environment tells compilers."""
    return "\n".join(os.environ.get(name, "") for name in _SETTINGS)


_PROCESSOR_FACTS = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU ", "isa", "uarch")


def _processor() -> list[str]:
    try:
        handle = os.open("/proc/cpuinfo", os.O_RDONLY)
    except OSError:  # macOS
        return [platform.processor()]
    try:  # one system call, as text files do not: the system writes no more than is asked for
        text = os.read(handle, 1 << 14).decode("utf-8", "replace")
    finally:
        os.close(handle)
    first = text.partition("\n\n")[0]
    return [line for line in first.splitlines() if line.startswith(_PROCESSOR_FACTS)]

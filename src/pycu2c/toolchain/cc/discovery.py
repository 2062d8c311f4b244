"""Which C compiler there is, and what else decides about its code. Compiles nothing itself."""

from __future__ import annotations

import functools
import importlib.util as finding
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator

from pycu2c.base.records import dataclass
from pycu2c.toolchain import subprocesses, toolchain_errors
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc import flags as families

_HOW_TO_INSTALL = """\
no C compiler was found, and kernels for the CPU need one. Any of these installs one:

    sudo apt install gcc          (Debian, Ubuntu)
    sudo dnf install gcc          (Fedora, RHEL)
    brew install gcc              (macOS; or: xcode-select --install)
    pip install ziglang           (anywhere, without root)

A compiler elsewhere is named by the environment variable PYCU2C_CC."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: the words that start it, and what tells one version of it from another."""

    command: tuple[str, ...]
    version: str
    target: str = ""  # the processor that it compiles for, if it is not this machine's

    def __str__(self) -> str:
        return shlex.join(self.command)

    @property
    def family(self) -> families.Family:
        return families.family_of(self.version)

    @property
    def flags(self) -> tuple[str, ...]:
        """What it is told beside what all are."""
        return families.flags_of(self.version, self.target)

    @property
    def to_the_bit(self) -> tuple[str, ...]:
        """What it is told where results must be equal to the bit."""
        return families.to_the_bit(self.version, self.target)


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
            raise toolchain_errors.ToolchainError(
                f"PYCU2C_CC is {chosen!r}, which cannot be run as a C compiler"
            )
        return compiler
    for command in _candidates(usual):
        compiler = working(command, path)
        if compiler:
            return compiler
    raise toolchain_errors.ToolchainError(_HOW_TO_INSTALL)


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
    found = artifact_store.load(key, ".txt") if key else None
    version = found.data.decode() if found else _version(full)
    if version is None:
        return None
    if key and not found and _is_one_compiler(full[0]):
        artifact_store.store(key, ".txt", version.encode())
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
        ran = subprocesses.run((*full, "--version"))
    except OSError:
        return None
    return ran.said.strip() if ran.code == 0 else None


def _key_of_version(full: tuple[str, ...]) -> str | None:
    """Under what the version of a compiler is kept, if it is; None where its words may name any."""
    if len(full) > 1:
        return None
    try:
        status = os.stat(full[0])
    except OSError:
        return None
    state = f"{status.st_ino} {status.st_mtime_ns} {status.st_size}"
    return artifact_store.key_of("version", full[0], state)


def _is_one_compiler(program: str) -> bool:
    """Whether a file is a compiler itself, and not what may start any: a script, ccache."""
    try:
        handle = os.open(program, os.O_RDONLY)
        try:
            is_binary = os.read(handle, 4) == b"\x7fELF"
        finally:
            os.close(handle)
    except OSError:
        return False
    return is_binary and "ccache" not in os.path.realpath(program)


def identity() -> str:
    """What decides about the code that is made here of a text and flags: the compiler, what the
    environment tells it, the machine."""
    return _identity_of(find_compiler(), settings(), machine())


@functools.lru_cache(maxsize=8)
def _identity_of(compiler: Compiler, *more: str) -> str:
    words = *compiler.command, compiler.version, compiler.target
    return artifact_store.key_of("compiler", *words, *more)


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

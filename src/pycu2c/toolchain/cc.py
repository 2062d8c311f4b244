"""C text -> shared object, through the compiler of the system. Knows nothing of kernels."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pycu2c.options import DEFAULT, Options
from pycu2c.toolchain import cache as disk
from pycu2c.toolchain.binary import Binary, RejectedCode, ToolchainError

FLAGS: tuple[str, ...] = (
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    # gcc 12 changes the order of two stores to one element where one index may wrap
    "-fno-tree-loop-distribution",
    "-Wno-ignored-optimization-argument",  # clang has no such pass
    "-fPIC",
    "-fopenmp-simd",
)
# NaN and infinity keep their meaning, as with nvcc. Not -ffast-math: with that, some versions of
# gcc switch denormal numbers off for the whole process that loads the library.
_FAST = ("-fassociative-math", "-freciprocal-math", "-fno-signed-zeros")
_LINK = ("-shared", "-pthread")
_LIBRARIES = ("-lm",)  # after the file that needs them
_WARNINGS = ("-Wall", "-Wextra", "-Werror")

_PROBE = """\
#include <math.h>
#include <stdint.h>
double pycu2c_probe(double x, int64_t n) { return sqrt(x) + (double)n; }
"""

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

    def __str__(self) -> str:
        return shlex.join(self.command)


def compile(text: str, entry: str, *, options: Options = DEFAULT, cache: bool = True) -> Binary:
    """Compile C to a shared object. ``cache=False`` neither reads nor writes the disk cache."""
    compiler = find_compiler()
    flags = flags_for(text, options)
    identity = (*compiler.command, compiler.version, *flags, *_LINK, *_LIBRARIES, machine())
    key = disk.key_of(text, *identity)
    found = disk.load(key, ".so") if cache else None
    if found:
        return Binary("so", entry, text, found.data, found.path, "")
    data, log = _compiled(compiler, text, flags)
    path = disk.store(key, ".so", data) if cache else disk.keep_until_exit(f"{entry}.so", data)
    return Binary("so", entry, text, data, path, log)


def flags_for(text: str, options: Options) -> tuple[str, ...]:
    """What the compiler is told for a text."""
    return (*FLAGS, *arithmetic_flags(options), *_half_flags(text))


# With fmad=False results are equal to the bit. gcc is to keep the sign of a zero too; and its
# vectoriser makes vfmaddsub of a product of complex numbers whatever -ffp-contract says, so that
# the processor must have none.
_NO_FMA = ("-mno-fma", "-mno-avx512f") if platform.machine() in ("x86_64", "AMD64") else ()
_TO_THE_BIT = ("-ftrapping-math", "-frounding-math", *_NO_FMA)


def arithmetic_flags(options: Options) -> tuple[str, ...]:
    contract = f"-ffp-contract={'fast' if options.fmad else 'off'}"
    if options.fastmath:
        return (contract, *_FAST)
    return (contract,) if options.fmad else (contract, *_TO_THE_BIT)


def _half_flags(text: str) -> tuple[str, ...]:
    """Halves are rounded after every operation: a processor that computes in them must not
    contract a product and a sum of them."""
    return ("-ffp-contract=off",) if "_Float16" in text else ()


def check_warnings(text: str) -> str:
    """What the compiler has against a text when every warning counts; empty if nothing."""
    with tempfile.TemporaryDirectory(prefix="pycu2c-") as folder:
        words = (*FLAGS, *_WARNINGS, "-c", "-o", "kernel.o", _written(folder, text))
        ran = _run((*find_compiler().command, *words), folder)
        return "" if ran.returncode == 0 and not ran.stderr else ran.stderr or "it failed silently"


def _compiled(compiler: Compiler, text: str, flags: tuple[str, ...]) -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory(prefix="pycu2c-") as folder:
        ran = _build(compiler, text, flags, folder)
        if ran.returncode == 0:
            return Path(folder, "kernel.so").read_bytes(), ran.stderr
        probe = _build(compiler, _PROBE, flags, folder)
    if probe.returncode != 0:
        raise ToolchainError(
            f"the C compiler `{compiler}` does not work: it cannot build a shared library "
            "of one function. Repair it, or name another by the environment variable "
            f"PYCU2C_CC.\n{probe.stderr.strip()}"
        )
    raise RejectedCode(str(compiler), text, ran.stderr)


def _build(
    compiler: Compiler, text: str, flags: tuple[str, ...], folder: str
) -> subprocess.CompletedProcess[str]:
    source = _written(folder, text)
    words = (*flags, *_LINK, "-o", "kernel.so", source, *_LIBRARIES)
    return _run((*compiler.command, *words), folder)


def _written(folder: str, text: str) -> str:
    """A relative name: the same text gives the same output, whatever the folder is called."""
    Path(folder, "kernel.c").write_text(text, encoding="utf-8")
    return "kernel.c"


def _run(words: tuple[str, ...], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )


# ---- which compiler ------------------------------------------------------------------------


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
        compiler = _working(tuple(shlex.split(chosen)), path)
        if compiler is None:
            raise ToolchainError(f"PYCU2C_CC is {chosen!r}, which cannot be run as a C compiler")
        return compiler
    for command in _candidates(usual):
        compiler = _working(command, path)
        if compiler:
            return compiler
    raise ToolchainError(_HOW_TO_INSTALL)


def _candidates(usual: str) -> Iterator[tuple[str, ...]]:
    if usual:
        yield tuple(shlex.split(usual))
    yield from (("gcc",), ("clang",), ("cc",))
    if importlib.util.find_spec("ziglang"):
        yield (sys.executable, "-m", "ziglang", "cc")


def _working(command: tuple[str, ...], path: str) -> Compiler | None:
    program = shutil.which(command[0], path=path) if command else None
    if program is None:
        return None
    full = (os.path.abspath(program), *command[1:])  # it is run from other folders
    try:
        ran = _run((*full, "--version"))
    except OSError:
        return None
    return Compiler(full, ran.stdout.strip()) if ran.returncode == 0 else None


@functools.cache
def machine() -> str:
    """What ``-march=native`` and ``-lm`` mean here: built elsewhere, code may not run here."""
    names = getattr(os, "confstr_names", {})
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in names else None
    return "\n".join((platform.machine(), libc or platform.version(), *_processor()))


_PROCESSOR_FACTS = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU ", "isa", "uarch")


def _processor() -> list[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(1 << 14).partition("\n\n")[0]
    except OSError:  # macOS
        return [platform.processor()]
    return [line for line in first.splitlines() if line.startswith(_PROCESSOR_FACTS)]

"""Compile C++ to shared objects with the C++ compiler of the system and the disk cache."""

from __future__ import annotations

import os

from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc.compiler_identity import identity_of
from pycu2c.toolchain.cc.discovery import Compiler, search
from pycu2c.toolchain.cc.flags import LINK_FLAGS
from pycu2c.toolchain.cc.miscompilations import flags_that_avoid_miscompilations
from pycu2c.toolchain.toolchain_errors import ToolchainError

_HOW_TO_INSTALL = """\
no C++ compiler was found, and CUDA C needs one on the CPU. Any of these installs one:

    sudo apt install clang        (or g++; clang vectorizes more loops)
    sudo dnf install clang
    brew install gcc              (macOS; or: xcode-select --install)
    pip install ziglang           (anywhere, without root)

To use another compiler, set the environment variable PYCU2C_CXX."""

FLAGS: tuple[str, ...] = (
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-semantic-interposition",
    "-fvisibility=hidden",
    "-fPIC",
    "-w",
    "-fdiagnostics-color=never",
)
_CHECK_FLAGS = ("-O3", "-fPIC")  # those of FLAGS with which miscompilations are searched
_LINK_FLAGS = (*LINK_FLAGS, "-x", "c++", "-", "-x", "none", "-lm")


class CxxCompileError(Exception):
    """The compiler rejected the source; ``log`` is its output. Callers translate this error."""

    def __init__(self, compiler: str, log: str) -> None:
        super().__init__(f"{compiler} failed to compile the source:\n{log}")
        self.compiler, self.log = compiler, log


def find(first: str = "clang++") -> Compiler:
    """Find PYCU2C_CXX, else CXX, ``first``, clang++, g++, c++, or zig's. Raises ToolchainError.

    clang is preferred for kernels, because it vectorizes more work-item loops than gcc. gcc
    vectorizes more plain loops with function calls.
    """
    if os.name == "nt":  # there are neither mmap nor ucontext for the stacks of fibers.c
        raise ToolchainError("CUDA C does not run on the CPU on Windows: use a GPU, or WSL")
    commands = os.environ.get("CXX", ""), first, "clang++", "g++", "c++"
    return search("PYCU2C_CXX", commands, "c++", _HOW_TO_INSTALL)


def compile(
    text: str,
    name: str,
    extra_flags: tuple[str, ...],
    identity: tuple[str, ...] = (),
    first: str = "clang++",
) -> CompiledBinary:
    """Compile C++. Raises CxxCompileError, ToolchainError.

    extra_flags: flags of this text.
    identity: further inputs of the compilation for the cache key, such as digests of headers.
    first: the compiler to try first.
    """
    compiler = find(first)
    avoiding = flags_that_avoid_miscompilations(text, compiler, (*_CHECK_FLAGS, *compiler.flags))
    flags = (*FLAGS, *compiler.flags, *extra_flags, *avoiding)
    parts = (*flags, *_LINK_FLAGS, *identity)
    key = artifact_store.key_of(text, "c++", identity_of(compiler), *parts)
    entry = artifact_store.load_or_make(key, ".so", lambda: _compile(compiler, text, flags))
    return CompiledBinary("so", name, text, entry.data, entry.path, entry.log)


def warnings(text: str, extra_flags: tuple[str, ...], first: str = "clang++") -> str:
    """Return the compiler's warnings about C++, without compiling it. Raises ToolchainError."""
    compiler = find(first)
    flags = [flag for flag in (*FLAGS, *compiler.flags, *extra_flags) if flag != "-w"]
    check = ("-Wall", "-fsyntax-only", "-x", "c++", "-")
    return subprocesses.run((*compiler.command, *flags, *check), text).output


def _compile(compiler: Compiler, text: str, flags: tuple[str, ...]) -> tuple[bytes, str]:
    with subprocesses.private_folder() as folder:
        path = os.path.join(folder, "module.so")
        completed = subprocesses.run((*compiler.command, *flags, "-o", path, *_LINK_FLAGS), text)
        if completed.returncode == 0:
            with open(path, "rb") as library:
                return library.read(), completed.output
    if completed.returncode < 0 or "Killed" in completed.output:
        raise ToolchainError(f"the C++ compiler `{compiler}` was killed: is there enough memory?")
    raise CxxCompileError(os.path.basename(compiler.command[0]), completed.output)

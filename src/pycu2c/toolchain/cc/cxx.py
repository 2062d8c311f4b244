"""Compile C++ to shared objects with the C++ compiler of the system and the disk cache."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.cc.compiler_identity import environment_settings, machine_identity
from pycu2c.toolchain.cc.discovery import (
    Compiler,
    chosen_compiler,
    probe_compiler,
    search_path,
    split,
)
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
_ENVIRONMENT_VARIABLES = ("CPLUS_INCLUDE_PATH",)


class CxxCompileError(Exception):
    """The compiler rejected the source; ``log`` is its output. Callers translate this error."""

    def __init__(self, compiler: str, log: str) -> None:
        super().__init__(f"{compiler} failed to compile the source:\n{log}")
        self.compiler, self.log = compiler, log


def find(first: str = "clang++") -> Compiler:
    """Find PYCU2C_CXX, else CXX, ``first``, clang++, g++, c++, or zig's. Raises ToolchainError."""
    environment = os.environ
    return _find(
        first, environment.get("PYCU2C_CXX", ""), environment.get("CXX", ""), search_path()
    )


@functools.lru_cache(maxsize=8)
def _find(first: str, pycu2c_cxx: str, cxx: str, path: str) -> Compiler:
    if os.name == "nt":  # there are neither mmap nor ucontext for the stacks of fibers.c
        raise ToolchainError("CUDA C does not run on the CPU on Windows: use a GPU, or WSL")
    if pycu2c_cxx:
        return chosen_compiler("PYCU2C_CXX", pycu2c_cxx, path)
    for command in _candidates(cxx, first):
        compiler = probe_compiler(command, path)
        if compiler:
            return compiler
    raise ToolchainError(_HOW_TO_INSTALL)


def _candidates(cxx: str, first: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands to try.

    clang is preferred for kernels, because it vectorizes more work-item loops than gcc. gcc
    vectorizes more plain loops with function calls.
    """
    if cxx:
        yield split(cxx)
    yield from ((first,), ("clang++",), ("g++",), ("c++",))
    if find_spec("ziglang"):
        yield (sys.executable, "-m", "ziglang", "c++")


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
    settings = [os.environ.get(variable, "") for variable in _ENVIRONMENT_VARIABLES]
    parts = (*compiler.command, compiler.version, *flags, *_LINK_FLAGS, *settings, *identity)
    key = artifact_store.key_of(text, "c++", *parts, environment_settings(), machine_identity())
    entry = artifact_store.load_or_make(key, ".so", lambda: _compile(compiler, text, flags))
    return CompiledBinary("so", name, text, entry.data, entry.path, entry.log)


def warnings(text: str, extra_flags: tuple[str, ...], first: str = "clang++") -> str:
    """Return the compiler's warnings about C++, without compiling it. Raises ToolchainError."""
    compiler = find(first)
    flags = [flag for flag in (*FLAGS, *compiler.flags, *extra_flags) if flag != "-w"]
    check = ("-Wall", "-fsyntax-only", "-x", "c++", "-")
    return subprocesses.run((*compiler.command, *flags, *check), text).output


def _compile(compiler: Compiler, text: str, flags: tuple[str, ...]) -> tuple[bytes, str]:
    folder = cache_directory.new_private_folder()
    path = os.path.join(folder, "module.so")
    try:
        completed = subprocesses.run((*compiler.command, *flags, "-o", path, *_LINK_FLAGS), text)
        if completed.returncode == 0:
            with open(path, "rb") as library:
                return library.read(), completed.output
    finally:
        cache_directory.remove_tree(folder)
    if completed.returncode < 0 or "Killed" in completed.output:
        raise ToolchainError(f"the C++ compiler `{compiler}` was killed: is there enough memory?")
    raise CxxCompileError(os.path.basename(compiler.command[0]), completed.output)

"""Find the C compiler and its version."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
import sys

from pycu2c.base.records import dataclass
from pycu2c.toolchain import subprocesses, toolchain_errors
from pycu2c.toolchain.cc import flags as compiler_flags

_INSTALL = """Any of these installs one:

    sudo apt install gcc          (Debian, Ubuntu)
    sudo dnf install gcc          (Fedora, RHEL)
    brew install gcc              (macOS; or: xcode-select --install)
    pacman -S mingw-w64-ucrt-x86_64-gcc       (Windows, in MSYS2; not Visual C++ or clang-cl)
    pip install ziglang           (anywhere, without root)

To use another compiler, set the environment variable {variable}. GPUs and backend="python" need no
compiler."""
_NOT_FOUND = "no C compiler was found, and kernels for the CPU need one. " + _INSTALL
_VISUAL_CPP = (
    "{variable} is {command!r}, which has the options or headers of Visual C++. Kernels for the "
    "CPU need gcc, or clang with those of gcc. " + _INSTALL
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: its command, and the output of ``--version``."""

    command: tuple[str, ...]
    version: str
    target: str = ""  # the architecture that it compiles for, if it is a cross compiler

    def __str__(self) -> str:
        return shlex.join(self.command)

    @property
    def family(self) -> compiler_flags.CompilerFamily:
        return compiler_flags.family_of(self.version)

    @property
    def is_visual_cpp(self) -> bool:
        """Return whether it has the options or the headers of Visual C++."""
        return _has_visual_cpp_options(self.command[0]) or "windows-msvc" in self.version

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the flags that this compiler always requires."""
        return compiler_flags.flags_of(self.version, self.target)

    @property
    def bit_exact_flags(self) -> tuple[str, ...]:
        """Return the flags for bit-exact results."""
        return compiler_flags.bit_exact_flags(self.version, self.target)


def _has_visual_cpp_options(program: str) -> bool:
    return os.path.basename(program).lower().removesuffix(".exe") in ("cl", "clang-cl")


# ---- search --------------------------------------------------------------------------------


def find_compiler() -> Compiler:
    """Find PYCU2C_CC, else CC, gcc, clang, cc, or zig's. Raises ToolchainError."""
    commands = os.environ.get("CC", ""), "gcc", "clang", "cc"
    return search("PYCU2C_CC", commands, "cc", _NOT_FOUND.format(variable="PYCU2C_CC"))


def search(variable: str, commands: tuple[str, ...], zig: str, not_found: str) -> Compiler:
    """Return the compiler that an environment variable names, else the first that runs, else zig's.

    Raises ToolchainError.
    """
    path = os.environ.get("PATH", os.defpath)
    chosen = os.environ.get(variable, "")
    return _search(variable, chosen, commands, zig, not_found, path)


@functools.lru_cache(maxsize=16)
def _search(
    variable: str, chosen: str, commands: tuple[str, ...], zig: str, not_found: str, path: str
) -> Compiler:
    """Search once per setting: the arguments are all inputs of the search."""
    if chosen:
        return chosen_compiler(variable, chosen, path)
    candidates = list(map(split, commands))
    if importlib.util.find_spec("ziglang"):
        candidates.append((sys.executable, "-m", "ziglang", zig))
    for command in candidates:
        compiler = probe_compiler(command, path)
        if compiler and not compiler.is_visual_cpp:
            return compiler
    raise toolchain_errors.ToolchainError(not_found)


def chosen_compiler(variable: str, command: str, path: str) -> Compiler:
    """Return the compiler that an environment variable names. Raises ToolchainError."""
    words = split(command)
    compiler = probe_compiler(words, path)
    if compiler and not compiler.is_visual_cpp:
        return compiler
    if compiler or (words and _has_visual_cpp_options(words[0])):
        problem = _VISUAL_CPP.format(variable=variable, command=command)
    else:
        problem = f"{variable} is {command!r}, which cannot be run as a compiler"
    raise toolchain_errors.ToolchainError(problem)


def split(command: str) -> tuple[str, ...]:
    """Split a command as a shell does."""
    if os.name == "nt":  # backslashes separate folders
        return tuple(word.strip('"') for word in shlex.split(command, posix=False))
    return tuple(shlex.split(command))


def probe_compiler(command: tuple[str, ...], path: str) -> Compiler | None:
    """Return the compiler that a command starts; None if it cannot be run."""
    program = shutil.which(command[0], path=path) if command else None
    if program is None:
        return None
    full_command = (os.path.abspath(program), *command[1:])  # the working directory may change
    version = _version(full_command)
    return None if version is None else Compiler(full_command, version)


def _version(command: tuple[str, ...]) -> str | None:
    try:
        completed = subprocesses.run((*command, "--version"))
    except OSError as error:
        if error.filename == command[0] and error.errno not in toolchain_errors.TOO_MANY_FILES:
            return None
        raise toolchain_errors.file_error(error) from error  # of a temporary file
    return completed.output.strip() if completed.returncode == 0 else None

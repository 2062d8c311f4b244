"""C++ text -> shared object, through the C++ compiler of the system. Knows nothing of CUDA."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.cc.discovery import Compiler, machine, settings, split, working
from pycu2c.toolchain.toolchain_errors import ToolchainError

_HOW_TO_INSTALL = """\
no C++ compiler was found, and CUDA C needs one on the CPU. Any of these installs one:

    sudo apt install clang        (or g++; clang makes vectors of more loops)
    sudo dnf install clang
    brew install gcc              (macOS; or: xcode-select --install)
    pip install ziglang           (anywhere, without root)

A compiler elsewhere is named by the environment variable PYCU2C_CXX."""

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
_FAST = ("-fassociative-math", "-freciprocal-math", "-fno-signed-zeros")
_LINK = ("-pipe", "-shared", "-pthread", "-x", "c++", "-", "-x", "none", "-lm")
_SETTINGS = ("CPLUS_INCLUDE_PATH",)


class Refused(ToolchainError):
    """The compiler has something against the text: ``log``."""

    def __init__(self, compiler: str, log: str) -> None:
        super().__init__(f"{compiler} does not compile a text:\n{log}")
        self.compiler, self.log = compiler, log


def find(first: str = "clang++") -> Compiler:
    """The one in PYCU2C_CXX, else CXX, ``first``, clang++, g++, c++, or zig's. Raises
    ToolchainError."""
    environment = os.environ
    names = ("PYCU2C_CXX", "CXX", "PATH")
    return _found(first, *(environment.get(name, "") for name in names))


@functools.lru_cache(maxsize=8)
def _found(first: str, chosen: str, usual: str, path: str) -> Compiler:
    if chosen:
        compiler = working(split(chosen), path)
        if compiler is None:
            raise ToolchainError(f"PYCU2C_CXX is {chosen!r}, which cannot be run as a compiler")
        return compiler
    for command in _candidates(usual, first):
        compiler = working(command, path)
        if compiler:
            return compiler
    raise ToolchainError(_HOW_TO_INSTALL)


def _candidates(usual: str, first: str) -> Iterator[tuple[str, ...]]:
    """clang is first for kernels: of the loops over threads it makes vectors more often than gcc,
    which makes them more often of plain loops that call functions."""
    if usual:
        yield split(usual)
    yield from ((first,), ("clang++",), ("g++",), ("c++",))
    if find_spec("ziglang"):
        yield (sys.executable, "-m", "ziglang", "c++")


def arithmetic_flags(*, contracts: bool, fast: bool) -> tuple[str, ...]:
    """Whether a product and a sum are one operation, and whether speed goes before last bits."""
    contract = f"-ffp-contract={'fast' if contracts else 'off'}"
    return (contract, *_FAST) if fast else (contract,)


def compile(
    text: str,
    name: str,
    more: tuple[str, ...],
    identity: tuple[str, ...] = (),
    first: str = "clang++",
) -> Binary:
    """Compile C++. ``more``: flags; ``identity``: what else the code follows from, such as what
    included files hold; ``first``: the compiler that is looked for first. Raises Refused,
    ToolchainError."""
    compiler = find(first)
    flags = (*FLAGS, *compiler.flags, *more)
    others = [os.environ.get(each, "") for each in _SETTINGS]
    words = (*compiler.command, compiler.version, *flags, *_LINK, *others, *identity)
    key = artifact_store.key_of(text, "c++", *words, settings(), machine())
    made = artifact_store.made(key, ".so", lambda: _compiled(compiler, text, flags))
    return Binary("so", name, text, made.data, made.path, made.log)


def _compiled(compiler: Compiler, text: str, flags: tuple[str, ...]) -> tuple[bytes, str]:
    folder = cache_directory.new_folder()
    path = os.path.join(folder, "module.so")
    try:
        ran = subprocesses.run((*compiler.command, *flags, "-o", path, *_LINK), text)
        if ran.code == 0:
            with open(path, "rb") as made:
                return made.read(), ran.said
    finally:
        cache_directory.remove(folder)
    if ran.code < 0 or "Killed" in ran.said:
        raise ToolchainError(f"the C++ compiler `{compiler}` was killed: is there enough memory?")
    raise Refused(os.path.basename(compiler.command[0]), ran.said)

"""The C compilers of this machine, native and for other processors."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator

import pytest

from pycu2c.toolchain.cc import build, cc
from pycu2c.toolchain.cc.discovery import Compiler, find_compiler
from pycu2c.toolchain.cc.flags import CLANG
from pycu2c.toolchain.subprocesses import run

NATIVE = (
    "gcc",
    *(f"gcc-{version}" for version in range(10, 17)),
    "clang",
    *(f"clang-{version}" for version in range(14, 23)),
    "zig cc",
)
CROSS = {  # command -> its processor
    "aarch64-linux-gnu-gcc": "aarch64",
    "clang --target=aarch64-linux-gnu": "aarch64",
    "x86_64-w64-mingw32-gcc": "AMD64",  # for Windows
    "zig cc -target aarch64-macos": "arm64",
}
IN_CI = ("gcc", "clang", *CROSS)  # .ci/run and the test tools of pyproject.toml
EMULATORS = {"aarch64": "qemu-aarch64", "AMD64": "/usr/lib/wine/wine64"}
os.environ.setdefault("WINEPREFIX", os.path.join(tempfile.gettempdir(), "pycu2c-wine"))
os.environ.setdefault("WINEDEBUG", "-all")


def needed(result: object, what: str) -> None:
    """Skip without it; but what .ci/run has installed may not be missing there."""
    if not result and os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and .ci/run should have installed it")
    if not result:
        pytest.skip(f"{what} is not installed")


def compiler(name: str) -> Compiler:
    """By its name in the tables above; skips, or fails in CI, if it is not here."""
    words = _words(name)
    if words is None and name in IN_CI:
        needed(None, name)
    assert words is not None
    program = _words(name.partition(" -")[0])  # with a target, zig would write a file a.o
    assert program is not None
    return Compiler(words, run((*program, "--version")).output.strip(), CROSS.get(name, ""))


def _words(name: str) -> tuple[str, ...] | None:
    program, *rest = name.split()
    result = shutil.which(program)
    if result:
        return (result, *rest)
    if program == "zig" and importlib.util.find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", *rest)
    return None


def names() -> Iterator[str]:
    """Of the compilers that are here, each once, and of those that CI has."""
    seen: set[str] = set()
    for name in (*NATIVE, *CROSS):
        words = _words(name)
        place = " ".join((os.path.realpath(words[0]), *words[1:])) if words else name
        if name in IN_CI or (words and place not in seen):
            seen.add(place)
            yield name


def check_warnings(text: str) -> str:
    """Return the compiler's output when all warnings are errors; empty if there is none."""
    found = find_compiler()
    flags = (*warning_flags(found), "-S", "-o", os.devnull, *build.STDIN_FLAGS)
    completed = run((*found.command, *flags), text)
    if completed.returncode == 0 and not completed.output:
        return ""
    return completed.output or "it failed silently"


def warning_flags(of: Compiler) -> tuple[str, ...]:
    """Return the flags that turn all warnings into errors, except for unused inline functions."""
    suppressed = ("-Wno-unused-function",) if of.family == CLANG else ()
    return (*cc.FLAGS, *of.flags, "-Wall", "-Wextra", "-Werror", *suppressed)

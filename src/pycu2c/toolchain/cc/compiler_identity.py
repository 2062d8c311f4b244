"""Identify what the output of a C compiler depends on: version, environment variables, machine.

The identity is part of the cache key of each shared library.
"""

from __future__ import annotations

import functools
import itertools
import os
import platform
import sys

from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc.discovery import Compiler, find_compiler


def compiler_identity() -> str:
    """Return a digest of what compiled code depends on: compiler, environment and machine."""
    return identity_of(find_compiler())


def identity_of(compiler: Compiler) -> str:
    """Return a digest of what the code of a compiler depends on besides flags."""
    settings = (os.environ.get(name, "") for name in _ENVIRONMENT_VARIABLES)
    return _compiler_identity(compiler, *settings, machine_identity())


@functools.lru_cache(maxsize=8)
def _compiler_identity(compiler: Compiler, *settings: str) -> str:
    parts = *compiler.command, compiler.version, compiler.target
    return artifact_store.key_of("compiler", *parts, *settings)


@functools.cache
def machine_identity() -> str:
    """Return what ``-march=native`` and ``-lm`` depend on: the processor and the C library."""
    return "\n".join((platform.machine(), _libc_version(), *_processor_lines()))


def _libc_version() -> str:
    if sys.platform == "linux" and "CS_GNU_LIBC_VERSION" in os.confstr_names:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    return platform.version()


_ENVIRONMENT_VARIABLES = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
)


_CPUINFO_KEYS = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU ", "isa", "uarch")


def _processor_lines() -> list[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = itertools.takewhile(str.strip, file)  # of the first processor
            return [line.rstrip() for line in lines if line.startswith(_CPUINFO_KEYS)]
    except OSError:  # macOS
        return [platform.processor()]

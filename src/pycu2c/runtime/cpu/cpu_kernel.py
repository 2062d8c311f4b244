"""Runs compiled C on the cores of this machine. Knows no arrays and no types: bytes go in.

An emitted kernel is ``void NAME(const void *args, int64_t first_block, int64_t last_block)``.
``args`` points to a struct: ``int32_t gridDim[3], blockDim[3]; int64_t shared_bytes;`` and then
the parameters in natural alignment. Blocks are counted row by row, x first.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from _thread import get_ident
from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.runtime import c_sources
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.runtime.launch_configuration import HEAD, Extent
from pycu2c.toolchain import toolchain_errors
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc import cc

POOL = "pycu2c_parallel"
POOL_FILES = ("cpu/interrupt.c", "cpu/pool.c", "cpu/file_states.c")
BODY = "void(*)(const void *, int64_t, int64_t)"


class CpuKernel:
    """A compiled kernel in this process."""

    __slots__ = ("_body", "_library", "_parallel", "binary")

    def __init__(self, binary: Binary, keeps_copies: bool = False) -> None:
        """``keeps_copies``: of arrays that it adds to (transforms/cpu/memory/privatize_accumulators.py)."""
        self.binary = binary
        self._library = load(binary)  # unloaded when the kernel goes
        self._body = symbol(self._library, binary.entry, BODY)
        self._parallel = pool().grid_by_copies if keeps_copies else pool().grid

    def launch(self, grid: Extent, block: Extent, shared_bytes: int, packed: bytes) -> None:
        """Run every block and return when all are done. Other Python threads run meanwhile."""
        head = HEAD.pack(*grid, *block, shared_bytes)
        code = self._parallel(self._body, head + packed, grid[0] * grid[1] * grid[2])
        if code:
            self.finished(code, head)

    def finished(self, code: int, head: bytes) -> None:
        """Raise what the code of a run means: 0, which nobody tells, is that all is done."""
        raise _why_it_ended(code)

    @property
    def addresses(self) -> tuple[int, int]:
        """Of the function that starts a run, and of the kernel, which is its first argument."""
        _, ffi = cffi_backend()
        start, body = (int(ffi.cast("intptr_t", f)) for f in (self._parallel, self._body))
        return start, body

    def words(self, name: str) -> Any:
        """A variable of the generated text, as words of 64 bits that can be read and set."""
        return symbol(self._library, name, "uint64_t *")


def address_of(words: Any) -> int:
    """Where the words that ``CpuKernel.words`` gave lie."""
    _, ffi = cffi_backend()
    return int(ffi.cast("intptr_t", words))


@dataclass(frozen=True, slots=True)
class Pool:
    """C functions: what shares out the blocks of a grid, what shares out anything, what is told
    beforehand which other function the one that it is given will call; and what looks at files."""

    grid: Any
    grid_by_copies: Any
    parallel: Any
    calls: Any
    look: Any
    made: str  # the name of its library in the cache, if this process had to look for its text


_KNOWN: list[Binary] = []  # the pool's library, where somebody has found it


def has_pool() -> bool:
    """Whether the pool is loaded."""
    return bool(pool.cache_info().currsize)


def know_pool(found: Binary) -> None:
    """The library that would be compiled now."""
    _KNOWN.append(found)


@functools.cache
def pool() -> Pool:
    """The library stays: threads sleep in its code."""
    made = ""
    try:
        binary = _KNOWN.pop()
    except IndexError:  # or another thread has taken it
        binary = cc.compile(pool_text(), POOL)
        made = binary.key
    library = load(binary, "RTLD_NODELETE")
    size = min(thread_count(), (1 << 31) - 1)
    symbol(library, "pycu2c_pool_size", "int(*)(int)")(size)
    name_owner = symbol(library, "pycu2c_pool_owner", "void(*)(uintptr_t, int(*)(void))")
    name_owner(_main_thread(), _question())
    symbol(library, "pycu2c_pool_asked_anywhere", "void(*)(int)")(sys.version_info < (3, 14))
    run = f"int(*)({BODY}, const void *, int64_t)"
    return Pool(
        symbol(library, "pycu2c_grid", run),
        symbol(library, "pycu2c_grid_by_copies", run),
        symbol(library, "pycu2c_parallel", run),
        symbol(library, "pycu2c_pool_calls", "void(*)(const void *)"),
        symbol(library, "pycu2c_look", "int64_t(*)(const char *, const char *, int64_t, char *)"),
        made,
    )


def look(folder: str, names: Sequence[str], latest: int) -> list[str]:
    """How files of a folder are: when each was changed and its size; empty for one that is not
    there, or was changed after a time, in nanoseconds."""
    backend, ffi = cffi_backend()
    states = backend.newp(ffi.typeof("char[]"), _LONGEST_STATE * len(names))
    told = os.fsencode("\n".join((*names, "")))
    size = pool().look(os.fsencode(folder), told, latest, states)
    found = str(backend.buffer(states, size)[:], "ascii").split("\n")
    return found[:-1] or [""] * len(names)  # of a folder that is not there


_LONGEST_STATE = 48  # as in files.c


def pool_text() -> str:
    return c_sources.c_text(*POOL_FILES)


# ---- a launch of the main thread that does not reach its end -----------------------------------

_REASONS: list[BaseException] = []


def _main_thread() -> int | None:
    """What ``threading`` calls so: whichever thread imports it first, which takes long."""
    threading = sys.modules.get("threading")
    return threading.main_thread().ident if threading else get_ident()


@functools.cache
def _question() -> Any:
    """What the pool asks the main thread during long launches: whether to end this one."""
    backend, ffi = cffi_backend()
    return backend.callback(ffi.typeof("int(*)(void)"), _go_on, 1, _end)


def _go_on() -> int:
    """Lets Python run the handlers of signals that have come. One may raise."""
    if _ask_for_signals is not None:
        _ask_for_signals(_signal.SIG_BLOCK, ())
    return 0


_signal: Any = importlib.import_module("_signal")  # ``signal`` first makes enums of its numbers
# a function's beginning is no place for handlers in Python 3.13, if a child was forked by a thread
_ask_for_signals = getattr(_signal, "pthread_sigmask", None)


def _end(_: object, reason: BaseException, __: object) -> None:
    _REASONS.append(reason)


def _why_it_ended(code: int) -> BaseException:
    """After a launch that the pool says has ended early: what a signal's handler raised, which
    is KeyboardInterrupt for Ctrl-C."""
    if code == 1:
        return _REASONS.pop() if _REASONS else KeyboardInterrupt()
    return LaunchError(
        "the handler of a signal forked this process while a kernel ran: the child has only a "
        "part of what that kernel computes"
    )


# ---- libraries: by cffi's own C module, whose parser of types takes microseconds -------------


@functools.cache
def cffi_backend() -> tuple[Any, Any]:
    """cffi's module in C and its type parser. ``cffi.FFI().cdef`` would take 40 ms to start."""
    backend: Any = importlib.import_module("_cffi_backend")
    return backend, backend.FFI()


def load(binary: Binary, *flag_names: str) -> Any:
    """A shared object in this process, with flags of dlopen by their names."""
    backend, ffi = cffi_backend()
    flags = ffi.RTLD_NOW
    for name in flag_names:
        flags |= getattr(ffi, name, 0)  # not every system has every one
    if binary.path is not None:
        try:
            return backend.load_library(binary.path, flags)
        except OSError:  # removed since by somebody's clear(), or on a disk that runs no code
            pass
    try:
        path = artifact_store.keep_until_exit(f"{binary.entry}.so", binary.data)
        return backend.load_library(path, flags)
    except OSError as error:
        missing = toolchain_errors.missing_in(str(error))
        if missing:
            raise toolchain_errors.Unlinked(missing) from error
        raise toolchain_errors.ToolchainError(
            f"compiled code cannot be loaded: {error}. It needs a folder that is not full, on a "
            "disk that runs code (not mounted noexec): name one by the environment variable TMPDIR"
        ) from error


def symbol(library: Any, name: str, c_type: str) -> Any:
    """A function or variable of a library."""
    _, ffi = cffi_backend()
    return library.load_function(ffi.typeof(c_type), name)

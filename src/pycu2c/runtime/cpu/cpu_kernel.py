"""Run compiled C kernels on the cores of this machine.

An emitted kernel is ``void NAME(const void *args, int64_t first_block, int64_t last_block)``.
``args`` points to a struct: ``int32_t gridDim[3], blockDim[3]; int64_t shared_bytes;``, followed by
the parameters in natural alignment. Blocks are numbered in row-major order, x first.
"""

from __future__ import annotations

import functools
import pathlib
import signal
import sys
import threading
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.forks import delaying_forks
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.output.tracing import span
from pycu2c.base.records import dataclass
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, Extent
from pycu2c.toolchain import toolchain_errors
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.cc import cc

POOL = "pycu2c_parallel"
BODY = "void(*)(const void *, int64_t, int64_t)"
_RUN = f"int(*)({BODY}, const void *, int64_t)"


class CpuKernel:
    """A compiled kernel, loaded into this process."""

    __slots__ = ("_body", "_has_private_copies", "_library", "_parallel", "binary")

    def __init__(self, binary: CompiledBinary, has_private_copies: bool = False) -> None:
        """``has_private_copies``: whether blocks accumulate into private copies of arrays."""
        self.binary, self._has_private_copies = binary, has_private_copies
        with span("load", f"load {binary.entry}"):
            self._library = load(binary)  # unloaded with the kernel
        self._body = symbol(self._library, binary.entry, BODY)
        self._parallel = pool().grid_by_copies if has_private_copies else pool().grid

    def __reduce__(self) -> tuple[object, ...]:
        """Let another process load the kernel."""
        return CpuKernel, (self.binary, self._has_private_copies)

    def launch(self, grid: Extent, block: Extent, shared_bytes: int, packed: bytes) -> None:
        """Run all blocks and return when they are done. The GIL is released meanwhile."""
        header = LAUNCH_HEADER.pack(*grid, *block, shared_bytes)
        code = self._parallel(self._body, header + packed, grid[0] * grid[1] * grid[2])
        if code:
            self.raise_for_code(code, header)

    def raise_for_code(self, code: int, header: bytes) -> None:
        """Raise the error that an exit code means; 0 means success, and is not passed."""
        raise _interrupt_error(code)

    @property
    def addresses(self) -> tuple[int, int]:
        """Return the addresses of the pool function that runs a grid, and of the kernel."""
        _, ffi = cffi_backend()
        start, body = (int(ffi.cast("intptr_t", f)) for f in (self._parallel, self._body))
        return start, body

    def uint64_array(self, name: str) -> Any:
        """Return a global array of the generated code, as a cffi pointer."""
        return symbol(self._library, name, "uint64_t *")


def address_of(pointer: Any) -> int:
    """Return the address in a cffi pointer."""
    _, ffi = cffi_backend()
    return int(ffi.cast("intptr_t", pointer))


@dataclass(frozen=True, slots=True)
class ThreadPool:
    """C functions of the thread pool.

    grid, grid_by_copies: run the blocks of a grid, without and with private copies of arrays.
    parallel: run any parallel loop.
    announce_callee: set the function that the body of the next loop calls. A signal can interrupt
        the launch only in the code of the body and of this function (``interrupt.c``).
    """

    grid: Any
    grid_by_copies: Any
    parallel: Any
    announce_callee: Any


@functools.cache
def pool() -> ThreadPool:
    """Load the pool's library. It is never unloaded, because its threads sleep in its code."""
    library = load(cc.compile(pool_text(), POOL), "RTLD_NODELETE")
    size = min(thread_count(), (1 << 31) - 1)
    symbol(library, "pycu2c_pool_size", "int(*)(int)")(size)
    set_owner = symbol(library, "pycu2c_pool_set_owner", "void(*)(uintptr_t, int(*)(void))")
    set_owner(threading.main_thread().ident, _interrupt_check())
    # from Python 3.14 on, the callback must not run on the stack of a fiber
    symbol(library, "pycu2c_pool_check_on_any_stack", "void(*)(int)")(sys.version_info < (3, 14))
    return ThreadPool(
        symbol(library, "pycu2c_grid", _RUN),
        symbol(library, "pycu2c_grid_by_copies", _RUN),
        symbol(library, "pycu2c_parallel", _RUN),
        symbol(library, "pycu2c_pool_announce_callee", "void(*)(const void *)"),
    )


def load_on_pool(text: str, entry: str, set_pool: str) -> Any:
    """Load a library whose function ``set_pool`` takes those of the pool. It is never unloaded."""
    library = load(cc.compile(text, entry), "RTLD_NODELETE")
    set_type = f"void(*)({_RUN}, void(*)(const void *))"
    symbol(library, set_pool, set_type)(pool().parallel, pool().announce_callee)
    return library


def block_position(block: int, grid: Extent) -> Extent:
    """Return the x, y and z of a block, given its number."""
    return block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1]


def pool_text() -> str:
    return c_text("interrupt.c", "pool.c")


def c_text(*names: str) -> str:
    """Return C files, named relative to this folder, concatenated."""
    folder = pathlib.Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


# ---- interrupted launches of the main thread ---------------------------------------------------

_INTERRUPTS: list[BaseException] = []


@functools.cache
def _interrupt_check() -> Any:
    """Return the callback of the pool: 0 continues a long launch, 1 interrupts it."""
    backend, ffi = cffi_backend()
    return backend.callback(ffi.typeof("int(*)(void)"), _run_signal_handlers, 1, _record_interrupt)


def _run_signal_handlers() -> int:
    """Run pending Python signal handlers, by a call of ``pthread_sigmask``. A handler may raise.

    In Python 3.13, calling a function does not run them if a thread has forked a child.
    """
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return 0


def _record_interrupt(_: object, reason: BaseException, __: object) -> None:
    _INTERRUPTS.append(reason)


def _interrupt_error(code: int) -> BaseException:
    """Return the exception of the signal handler that interrupted a launch."""
    if code == 1:
        return _INTERRUPTS.pop() if _INTERRUPTS else KeyboardInterrupt()
    return LaunchError(
        "a signal handler forked this process while a kernel ran: in the child, the results of "
        "this kernel are incomplete"
    )


# ---- libraries, loaded with cffi's C module, whose type parser takes microseconds --------------


@functools.cache
def cffi_backend() -> tuple[Any, Any]:
    """Return cffi's C module and its type parser. Importing ``cffi`` would take 40 ms."""
    backend: Any = import_module("_cffi_backend")
    return backend, backend.FFI()


def load(binary: CompiledBinary, *flag_names: str) -> Any:
    """Load a shared object, with flags of dlopen by name."""
    backend, ffi = cffi_backend()
    flags = ffi.RTLD_NOW
    for name in flag_names:
        flags |= getattr(ffi, name, 0)  # some systems lack some flags
    if binary.path is not None and not cache_directory.is_remote(binary.path):
        try:
            with delaying_forks():
                return backend.load_library(binary.path, flags)
        # the file was evicted, its file system is mounted noexec, or its name is not UTF-8
        except (OSError, UnicodeEncodeError):
            pass
    try:
        path = artifact_store.write_private_file(f"{binary.entry}.so", binary.data)
        with delaying_forks():
            return backend.load_library(path, flags)
    except (OSError, UnicodeEncodeError) as error:
        missing = toolchain_errors.undefined_functions_in(str(error))
        if missing:
            raise toolchain_errors.UndefinedFunctionError(missing) from error
        raise toolchain_errors.ToolchainError(
            f"compiled code cannot be loaded: {error}. Set TMPDIR to a folder with free space, on "
            "a file system that is not mounted noexec"
        ) from error


def symbol(library: Any, name: str, c_type: str) -> Any:
    """Return a function or variable of a library."""
    _, ffi = cffi_backend()
    return library.load_function(ffi.typeof(c_type), name)

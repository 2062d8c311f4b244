"""Run kernels on the CPU with threads as fibers, which have their own stacks (``fibers.c``)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver.cuda_errors import error_for
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.runtime.cpu.cpu_kernel import (
    BODY,
    CpuKernel,
    block_position,
    c_text,
    cffi_backend,
    load,
    load_on_pool,
    pool,
    symbol,
)
from pycu2c.runtime.cpu.deadlock_report import SyncPoint, WaitingThread, deadlock_error
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, Extent
from pycu2c.toolchain.binary import CompiledBinary


class _ExitCode(IntEnum):
    """Why a launch ended early, as in fibers.c."""

    DEADLOCK = 64
    NO_MEMORY = 65
    ASSERT = 66
    TRAP = 67


_MAX_REPORTED, _MAX_THREADS = 8, 1024
_GRID = SyncPoint("grid.sync()", Effect.GRID)
_SYNC_POINTS: tuple[SyncPoint | None, ...] = (
    None,
    SyncPoint("__syncthreads", Effect.BARRIER),
    SyncPoint("a function of the warp", Effect.WARP),
    SyncPoint("__activemask", Effect.WARP),
    _GRID,
)


@dataclass(frozen=True, slots=True)
class FiberLibrary:
    """A loaded C++ library; ``name`` is the name of its source in errors."""

    loaded: Any
    binary: CompiledBinary
    name: str


def open_library(binary: CompiledBinary, name: str) -> FiberLibrary:
    """Load a library of kernels that may synchronize."""
    loaded = load(binary)
    services = symbol(loaded, "pycu2c_services_used", "const void **")
    services[0] = _runtime().services
    return FiberLibrary(loaded, binary, name)


class LoopKernel(CpuKernel):
    """A kernel without synchronization."""

    __slots__ = ()

    def __init__(self, library: FiberLibrary, entry: str) -> None:
        self.binary, self._library = library.binary, library.loaded
        self._body = symbol(library.loaded, entry, BODY)
        self._parallel = pool().grid


class FiberKernel(CpuKernel):
    """A kernel with synchronization. ``cooperative``: all blocks run concurrently, in one OS
    thread."""

    __slots__ = ("_cooperative", "_name", "_source_name")

    def __init__(self, library: FiberLibrary, entry: str, name: str, cooperative: bool) -> None:
        if cooperative and sys.platform != "linux":  # phases.c finds no thread-local variables
            raise LaunchError(f"{name}: CUDA C is launched cooperatively on the CPU on Linux only")
        self.binary, self._library = library.binary, library.loaded
        self._body = symbol(library.loaded, entry, "const void *")
        self._parallel = _runtime().cooperative if cooperative else _runtime().run
        self._name, self._source_name, self._cooperative = name, library.name, cooperative

    def raise_for_code(self, code: int, header: bytes) -> None:
        """Raise DeadlockError, LaunchError if memory is short, or the CUDA error of an assert."""
        match code:
            case _ExitCode.NO_MEMORY:
                raise LaunchError(f"{self._name}: there is too little memory for its threads")
            case _ExitCode.ASSERT:
                text = "an assert of the kernel failed"
                raise error_for("CUDA_ERROR_ASSERT", text, f"run {self._name}")
            case _ExitCode.TRAP:
                text = "the kernel has ended itself by __trap"
                raise error_for("CUDA_ERROR_ILLEGAL_INSTRUCTION", text, f"run {self._name}")
            case _ExitCode.DEADLOCK:
                raise self._deadlock_error(LAUNCH_HEADER.unpack(header)[:3])
        super().raise_for_code(code, header)

    def _deadlock_error(self, grid: Extent) -> LaunchError:
        threads = list(self._waiting_threads(grid))
        if not self._cooperative and threads and all(w.operation is _GRID for w in threads):
            return LaunchError(
                f"{self._name} has a barrier of the whole grid, {threads[0].location}: launch it "
                "cooperatively, so that its blocks run at the same time (a RawKernel's "
                "enable_cooperative_groups=True)"
            )
        return deadlock_error(self._name, threads)

    def _waiting_threads(self, grid: Extent) -> Iterator[WaitingThread]:
        size = 1 + _MAX_THREADS
        words = cffi_backend()[1].new(f"uint64_t[{_MAX_REPORTED * size}]")
        for i in range(_runtime().report(words)):
            block, *waits = words[i * size : (i + 1) * size]
            for thread, word in enumerate(waits):
                sync_point = _SYNC_POINTS[word & 7]
                if sync_point:
                    location = f"{self._source_name}:{(word & 0xFFFFFFFF) >> 3}"
                    yield WaitingThread(
                        block_position(block, grid), thread, location, sync_point, word >> 32
                    )


class _FiberRuntime(NamedTuple):
    """C functions, and the address of the table of services that kernels call."""

    run: Any
    cooperative: Any
    report: Any
    services: Any


def fibers_text() -> str:
    return c_text("context_switch.c", "fibers.c", "phases.c")


@functools.cache
def _runtime() -> _FiberRuntime:
    library = load_on_pool(fibers_text(), "pycu2c_run_fibers", "pycu2c_set_fiber_pool")
    run_type = "int(*)(const void *, const void *, int64_t)"
    return _FiberRuntime(
        symbol(library, "pycu2c_run_fibers", run_type),
        symbol(library, "pycu2c_run_interleaved_fibers", run_type),
        symbol(library, "pycu2c_fibers_report", "int64_t(*)(uint64_t *)"),
        symbol(library, "pycu2c_services", "const void *"),
    )

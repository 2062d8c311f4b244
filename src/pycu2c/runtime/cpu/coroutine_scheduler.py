"""Run kernels on the CPU with threads as coroutines (``coroutine_scheduler.c``)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.limits import MAX_CLUSTER_BLOCKS, MAX_SHARED_BYTES
from pycu2c.base.records import dataclass
from pycu2c.codegen.coroutines import INTERFACE, WAIT_NUMBER_BITS
from pycu2c.ir.nodes import BarrierWait
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.cpu.cpu_kernel import (
    CpuKernel,
    block_position,
    c_text,
    cffi_backend,
    load,
    load_on_pool,
    symbol,
)
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.cpu.deadlock_report import WaitingThread, deadlock_error
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, Extent, Launch
from pycu2c.runtime.runner import Runner
from pycu2c.toolchain.binary import CompiledBinary

_DEADLOCK, _NO_MEMORY, _MAX_THREADS = 64, 65, 1024  # as in coroutine_scheduler.c
_WAIT_MASK = (1 << WAIT_NUMBER_BITS) - 1


class CoroutineKernel(CpuKernel):
    """``waits``: the suspension points of its threads, numbered from 1."""

    __slots__ = ("_name", "_waits")

    def __init__(self, binary: CompiledBinary, name: str, waits: Sequence[BarrierWait]) -> None:
        self.binary = binary
        self._library = load(binary)
        self._body = symbol(self._library, binary.entry, "const void *")
        self._parallel = _scheduler().run
        self._name, self._waits = name, waits

    def __reduce__(self) -> tuple[object, ...]:
        return CoroutineKernel, (self.binary, self._name, self._waits)

    def watch(self, regions: Sequence[tuple[int, int]]) -> Any:
        """Register the memory regions of the next launch of this thread, as addresses and sizes.

        The returned buffer must live as long as the launch.
        """
        words = cffi_backend()[1].new(
            "int64_t[]", [number for region in regions for number in region]
        )
        _scheduler().watch(words, len(regions))
        return words

    def raise_for_code(self, code: int, header: bytes) -> None:
        """Raise DeadlockError if no thread can make progress, LaunchError if memory is short."""
        if code == _NO_MEMORY:
            blocks = math.prod(LAUNCH_HEADER.unpack(header)[:3])
            raise LaunchError(
                f"{self._name}: there is too little memory for the state of the waiting threads of "
                f"{blocks} blocks: launch fewer blocks"
            )
        if code != _DEADLOCK:
            return super().raise_for_code(code, header)
        grid, block = LAUNCH_HEADER.unpack(header)[:3], LAUNCH_HEADER.unpack(header)[3:6]
        raise deadlock_error(self._name, self._waiting_threads(grid, math.prod(block)))

    def _waiting_threads(self, grid: Extent, threads: int) -> Iterator[WaitingThread]:
        """Yield the blocked threads of the blocks that the scheduler reports."""
        report = _scheduler().report()
        for i in range(report[1]):
            offset = 2 + i * (1 + _MAX_THREADS)
            block, *thread_words = report[offset : offset + 1 + threads]
            for thread, word in enumerate(thread_words):
                if word & 7:
                    wait = self._waits[(word >> 3 & _WAIT_MASK) - 1]
                    location = f"{wait.span.file}:{wait.span.line}"
                    mask = word >> 32 if wait.mask is not None else 0
                    position = block_position(block, grid)
                    yield WaitingThread(position, thread, location, wait.intrinsic, mask)


@dataclass(frozen=True, slots=True)
class CoroutineRunner(Runner):
    """Launch coroutine kernels with Python arguments.

    Each launch registers the memory of its arrays, so that the scheduler can tell when memory that
    a busy-wait loop reads has changed.
    """

    inner: CpuRunner
    kernel: CoroutineKernel

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        arrays = [a for a in arguments if isinstance(a, ArrayArgument) and a.location == "host"]
        registered = self.kernel.watch([a.region for a in arrays])
        self.inner.run(launch, arguments)
        del registered


class _Scheduler(NamedTuple):
    """C functions: run a kernel, register memory, report blocked threads."""

    run: Any
    watch: Any
    report: Any


def scheduler_text() -> str:
    """Return the C source of the scheduler, with the declarations of generated code."""
    scheduler = "coroutine_scheduler.c", "block_scheduler.c"
    text = c_text("../../native/launch_header.h", *scheduler)
    sizes = {"MAX_SHARED_BYTES": MAX_SHARED_BYTES, "MAX_CLUSTER_BLOCKS": MAX_CLUSTER_BLOCKS}
    limits = f"enum {{ {', '.join(f'{name} = {size}' for name, size in sizes.items())} }};"
    return f"#include <stdint.h>\n{INTERFACE}{limits}\n{text}"


@functools.cache
def _scheduler() -> _Scheduler:
    library = load_on_pool(scheduler_text(), "pycu2c_run_coroutines", "pycu2c_set_scheduler_pool")
    run = symbol(library, "pycu2c_run_coroutines", "int(*)(const void *, const void *, int64_t)")
    watch = symbol(library, "pycu2c_set_memory", "void(*)(const int64_t *, int64_t)")
    return _Scheduler(run, watch, symbol(library, "pycu2c_report", "uint64_t *(*)(void)"))

"""Runs kernels on the CPU whose threads have stacks of their own, by ``fibers.c``."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver.cuda_errors import error_for
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.runtime.c_sources import c_text
from pycu2c.runtime.cpu.cpu_kernel import BODY, CpuKernel, cffi_backend, load, pool, symbol
from pycu2c.runtime.cpu.deadlock_report import Meeting, Waiting, deadlock
from pycu2c.runtime.launch_configuration import HEAD, Extent
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cc import cc


class _Code(IntEnum):
    """Why a launch has ended early: as in fibers.c."""

    STUCK = 64
    NO_MEMORY = 65
    ASSERT = 66
    TRAP = 67


_MOST_TOLD, _MOST_THREADS = 8, 1024
_GRID = Meeting("grid.sync()", Effect.GRID)
_MEETINGS: tuple[Meeting | None, ...] = (
    None,
    Meeting("__syncthreads", Effect.BARRIER),
    Meeting("a function of the warp", Effect.WARP),
    Meeting("__activemask", Effect.WARP),
    _GRID,
)


@dataclass(frozen=True, slots=True)
class Library:
    """Compiled C++ in this process; ``name`` is what errors call the text."""

    loaded: Any
    binary: Binary
    name: str


def opened(binary: Binary, name: str) -> Library:
    """Load a library whose threads may wait for each other."""
    loaded = load(binary)
    used = symbol(loaded, "pycu2c_services_used", "const void **")
    used[0] = _runtime().services
    return Library(loaded, binary, name)


class LoopKernel(CpuKernel):
    """A kernel of a library whose threads never wait."""

    __slots__ = ()

    def __init__(self, library: Library, entry: str) -> None:
        self.binary, self._library = library.binary, library.loaded
        self._body = symbol(library.loaded, entry, BODY)
        self._parallel = pool().grid


class FiberKernel(CpuKernel):
    """A kernel of a library whose threads may wait. ``together``: its blocks, too, which then run
    in one OS thread."""

    __slots__ = ("_name", "_text", "_together")

    def __init__(self, library: Library, entry: str, name: str, together: bool) -> None:
        self.binary, self._library = library.binary, library.loaded
        self._body = symbol(library.loaded, entry, "const void *")
        self._parallel = _runtime().together if together else _runtime().run
        self._name, self._text, self._together = name, library.name, together

    def finished(self, code: int, head: bytes) -> None:
        """Raises DeadlockError if some threads can never end, LaunchError if memory is short, and
        what a GPU's driver would say of an assert."""
        match code:
            case _Code.NO_MEMORY:
                raise LaunchError(f"{self._name}: there is too little memory for its threads")
            case _Code.ASSERT:
                said = "an assert of the kernel failed"
                raise error_for("CUDA_ERROR_ASSERT", said, f"run {self._name}")
            case _Code.TRAP:
                said = "the kernel has ended itself by __trap"
                raise error_for("CUDA_ERROR_ILLEGAL_INSTRUCTION", said, f"run {self._name}")
            case _Code.STUCK:
                raise self._stuck(HEAD.unpack(head)[:3])
        super().finished(code, head)

    def _stuck(self, grid: Extent) -> LaunchError:
        found = list(self._waiting(grid))
        if not self._together and found and all(w.row is _GRID for w in found):
            return LaunchError(
                f"{self._name} has a barrier of the whole grid, {found[0].where}: launch it "
                "cooperatively, so that its blocks run at the same time (a RawKernel's "
                "enable_cooperative_groups=True)"
            )
        return deadlock(self._name, found)

    def _waiting(self, grid: Extent) -> Iterator[Waiting]:
        size = 1 + _MOST_THREADS
        words = cffi_backend()[1].new(f"uint64_t[{_MOST_TOLD * size}]")
        for i in range(_runtime().report(words)):
            block, *waits = words[i * size : (i + 1) * size]
            position = block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1]
            for thread, word in enumerate(waits):
                meeting = _MEETINGS[word & 7]
                if meeting:
                    where = f"{self._text}:{(word & 0xFFFFFFFF) >> 3}"
                    yield Waiting(position, thread, where, meeting, word >> 32)


class SplitKernel(FiberKernel):
    """A kernel of a library that runs its blocks by itself, and says if threads wait for ever."""

    __slots__ = ()

    def __init__(self, library: Library, entry: str, name: str) -> None:
        super().__init__(library, entry, name, together=False)
        self._parallel = _runtime().split


class _Runtime(NamedTuple):
    """C functions, and where the table lies of those that kernels call."""

    run: Any
    together: Any
    split: Any
    report: Any
    services: Any


def fibers_text() -> str:
    return c_text("cpu/context_switch.c", "cpu/fibers.c", "cpu/phases.c")


@functools.cache
def _runtime() -> _Runtime:
    library = load(cc.compile(fibers_text(), "pycu2c_run_fibers"), "RTLD_NODELETE")
    parallel = f"int(*)({BODY}, const void *, int64_t)"
    fibers_by = symbol(library, "pycu2c_fibers_by", f"void(*)({parallel}, void(*)(const void *))")
    fibers_by(pool().parallel, pool().calls)
    form = "int(*)(const void *, const void *, int64_t)"
    return _Runtime(
        symbol(library, "pycu2c_run_fibers", form),
        symbol(library, "pycu2c_run_fibers_together", form),
        symbol(library, "pycu2c_run_split", form),
        symbol(library, "pycu2c_fibers_report", "int64_t(*)(uint64_t *)"),
        symbol(library, "pycu2c_services", "const void *"),
    )

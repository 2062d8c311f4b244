"""Measure sample blocks of launches in the interpreter: executions, branches, memory traffic.

An access of a warp is one request: the accesses of its lanes at one place, each the n-th time that
the lane comes there. In global memory, a request costs the sectors of 32 bytes that it touches; in
shared memory, the greatest number of different words in one bank.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from pycu2c.base.records import dataclass, field
from pycu2c.base.spans import Span
from pycu2c.base.types import MemorySpace, Signature
from pycu2c.interpreter.interpreter import InterpretedKernel
from pycu2c.interpreter.observation import AccessSite
from pycu2c.kernels.specialization import Specialization
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, WARP, Thread
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.launch_configuration import Extent, Launch
from pycu2c.runtime.launch_observers import OBSERVERS, LaunchObserver
from pycu2c.runtime.runner import Runner

SECTOR = 32  # bytes of global memory that are transferred at once
BANKS, WORD = 32, 4  # of shared memory; bytes of a word
_SAMPLES = 3  # blocks, or clusters of them, per launch
_ALIGNMENT = 256  # bytes: copies of arrays begin where their originals do, modulo this
_LIMIT = 400_000  # statements and accesses that are observed of a kernel


class _LimitReached(BaseException):
    """Ends the interpretation of a launch; not an Exception, which kernels may catch."""


@dataclass(slots=True)
class AccessTotals:
    """The total cost of the requests of an access in the source.

    ``cost`` and ``ideal`` are sectors of global memory, or passes through banks of shared memory;
    ``ideal`` is for lanes that access adjacent elements.
    """

    requests: int = 0
    cost: int = 0
    ideal: int = 0


@dataclass(slots=True)
class BranchTotals:
    """How often threads evaluated a condition and found it true, and how many warps diverged."""

    evaluated: int = 0
    taken: int = 0
    warps: int = 0
    divergent: int = 0


@dataclass(slots=True)
class ExecutionProfile:
    """The measurements of a kernel with the signature and the block of its first launch.

    ``stopped`` says why not all of the samples were run.
    """

    signature: Signature | None = None
    block: Extent | None = None
    threads: int = 0
    launches: int = 0
    statements: Counter[Span] = field(default_factory=Counter)
    accesses: dict[AccessSite, AccessTotals] = field(default_factory=dict)
    branches: dict[Span, BranchTotals] = field(default_factory=dict)
    stopped: str = ""


@contextlib.contextmanager
def profiling(file: str, name: str) -> Iterator[ExecutionProfile]:
    """Measure the launches of the kernel with a name in a file."""
    profile, path = ExecutionProfile(), Path(file).resolve()

    def wrap(kernel: Specialization, runner: Runner) -> Runner:
        is_own = kernel.source.name == name and Path(kernel.source.file).resolve() == path
        if not is_own or profile.signature not in (None, kernel.signature):
            return runner
        profile.signature = kernel.signature
        return _ProfilingRunner(kernel, runner, profile)

    observer = LaunchObserver(wrap)
    OBSERVERS.append(observer)
    try:
        yield profile
    finally:
        OBSERVERS.remove(observer)


class _ProfilingRunner(Runner):
    """Interprets sample blocks of a launch on copies of its arrays, then runs the launch."""

    def __init__(self, kernel: Specialization, runner: Runner, profile: ExecutionProfile) -> None:
        self._runner, self._profile = runner, profile
        self._observer = _WarpObserver(profile)
        self._kernel = InterpretedKernel(kernel.built.module, self._observer)

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        if not self._profile.stopped:
            self._measure(launch, arguments)
        self._runner.run(launch, arguments)

    def _measure(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        values = [_copied(argument) for argument in arguments]
        self._profile.launches += 1
        self._profile.block = self._profile.block or launch.block
        sizes = launch.grid, launch.block, launch.shared_bytes
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # the launch itself prints
                self._kernel.launch(*sizes, values, _SAMPLES)
        except _LimitReached:
            self._profile.stopped = "the limit of the measurement was reached"
        except Exception as error:  # the launch itself reports it
            self._profile.stopped = f"{type(error).__name__}: {error}"
        finally:
            self._observer.finish_block()


def _copied(argument: Argument) -> Any:
    """Return a copy of an array with the same strides and position in lines of caches."""
    if not isinstance(argument, ArrayArgument):
        return argument.owner if isinstance(argument, HandleArgument) else argument
    array = np.asarray(argument.owner)
    if array.size == 0:
        return array.copy()
    low, high = byte_bounds(array)
    memory = np.empty(high - low + 2 * _ALIGNMENT, np.uint8)
    start = (low - memory.ctypes.data) % _ALIGNMENT
    memory[start : start + high - low] = np.frombuffer(ctypes.string_at(low, high - low), np.uint8)
    first = start + array.ctypes.data - low
    return np.ndarray(array.shape, array.dtype, memory, first, array.strides)


class _WarpObserver:
    """Collects what the lanes of each warp do, and adds it up when the next block begins."""

    def __init__(self, profile: ExecutionProfile) -> None:
        self._profile = profile
        self._observed = 0
        self._block: object = None
        self._threads: set[int] = set()
        self._times: Counter[tuple[object, int]] = Counter()
        self._addresses: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        self._conditions: dict[tuple[Any, ...], list[bool]] = defaultdict(list)

    def statement(self, span: Span) -> None:
        self._running_thread()
        self._profile.statements[span] += 1

    def branch(self, span: Span, taken: Any) -> Any:
        self._conditions[self._request(span)].append(bool(taken))
        return taken

    def access(self, site: AccessSite, array: Any, indices: tuple[Any, ...]) -> None:
        address: int = array.__array_interface__["data"][0]
        pairs = zip(indices, array.shape, array.strides)
        offsets = (((int(i) + n) if i < 0 else int(i)) * step for i, n, step in pairs)
        self._addresses[self._request(site)].append(address + sum(offsets))

    def _running_thread(self) -> Thread:
        """Return the running thread; add up the block before, if this is the first of another."""
        self._observed += 1
        if self._observed > _LIMIT:
            raise _LimitReached
        thread = REFERENCE_STATE.current()
        if thread.memory is not self._block:
            self.finish_block()
            self._block = thread.memory
        self._threads.add(thread.rank)
        return thread

    def _request(self, place: object) -> tuple[Any, ...]:
        """Return the request that the running lane takes part in."""
        rank = self._running_thread().rank
        time = self._times[place, rank]
        self._times[place, rank] += 1
        return place, rank // WARP, time

    def finish_block(self) -> None:
        profile = self._profile
        profile.threads += len(self._threads)
        for (site, _, _), addresses in self._addresses.items():
            _add_request(profile.accesses.setdefault(site, AccessTotals()), site, addresses)
        for (span, _, _), conditions in self._conditions.items():
            totals = profile.branches.setdefault(span, BranchTotals())
            totals.evaluated += len(conditions)
            totals.taken += sum(conditions)
            totals.warps += 1
            totals.divergent += len(set(conditions)) > 1
        self._threads.clear()
        self._times.clear()
        self._addresses.clear()
        self._conditions.clear()


def _add_request(totals: AccessTotals, site: AccessSite, addresses: Sequence[int]) -> None:
    totals.requests += 1
    if site.space is MemorySpace.SHARED:
        totals.cost += _bank_passes(_units(addresses, site.size, WORD))
        totals.ideal += -(-len(set(addresses)) * site.size // (WORD * BANKS)) or 1
    else:
        totals.cost += len(set(_units(addresses, site.size, SECTOR)))
        totals.ideal += -(-len(set(addresses)) * site.size // SECTOR) or 1


def _units(addresses: Sequence[int], size: int, unit: int) -> Iterator[int]:
    """Yield the sectors or words that elements at these addresses occupy."""
    for address in addresses:
        yield from range(address // unit, (address + size - 1) // unit + 1)


def _bank_passes(words: Iterator[int]) -> int:
    """Return the greatest number of different words in one bank."""
    return max(Counter(word % BANKS for word in set(words)).values(), default=0)

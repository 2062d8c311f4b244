"""What every backend makes of a kernel: something that takes launches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from pycu2c.base.limits import CACHE_EXCEEDING_BYTES
from pycu2c.base.records import Protocol, dataclass
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.direct_launch import Direct
from pycu2c.runtime.launch_configuration import Extent, Launch

Axis: TypeAlias = tuple[int, int]  # a leaf of the arguments, and which of its axes, or NUMBER
NUMBER = -1
ANY_NUMBER = 0, 1 << 62  # of blocks: from, and below


@dataclass(frozen=True, slots=True)
class Known:
    """Of a kernel for one signature: which arrays it may write, by their place among the leaves;
    what its grid follows from, if the kernel makes that plain; whether it asks for threads;
    whether a launch must give it shared memory; the arrays that are only ever added to
    (transforms/cpu/memory/privatize_accumulators.py); how many bytes of arrays there are for each thread, if what it writes
    may go past caches (transforms/cpu/memory/nontemporal_stores.py)."""

    written: frozenset[int]
    lengths: tuple[Axis, ...]
    uses_threads: bool
    takes_shared: bool
    accumulator_arguments: tuple[int, ...]
    streamed: int = 0

    def is_large(self, launch: Launch) -> bool:
        """Whether a launch takes more memory than caches hold, and may write past them."""
        threads = math.prod(launch.grid) * math.prod(launch.block)
        return self.streamed * threads >= CACHE_EXCEEDING_BYTES

    def numbers_of_blocks(self, variant: Variant) -> tuple[int, int]:
        """How many the launches have that a variant is for: from, and below."""
        if not self.streamed or variant.backend != "cpu" or variant.block is None:
            return ANY_NUMBER
        large = -(-CACHE_EXCEEDING_BYTES // (self.streamed * math.prod(variant.block)))
        return (large, ANY_NUMBER[1]) if variant.past_caches else (0, large)


@dataclass(frozen=True, slots=True)
class Variant:
    """What a kernel for one signature is compiled for: ``ordinary`` launches (analysis/launch_assumptions.py), and
    a shape of blocks, or None: for any; arrays of which an OS thread has a copy. ``gpu`` is the
    device where it is loaded, and whose architecture it is for. ``past_caches``: for launches that
    take more memory than caches hold."""

    backend: str
    ordinary: bool
    block: Extent | None
    accumulators: tuple[int, ...] = ()
    gpu: int = 0
    past_caches: bool = False


class Runner(Protocol):
    """A compiled kernel. ``direct`` is None where a launch takes more than a call."""

    @property
    def direct(self) -> Direct | None: ...

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None: ...

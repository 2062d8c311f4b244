"""What every backend makes of a kernel: something that takes launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Direct

Axis: TypeAlias = tuple[int, int]  # a leaf of the arguments, and which of its axes, or NUMBER
NUMBER = -1
ANY_NUMBER = 0, 1 << 62  # of blocks: from, and below


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """Properties of a kernel for one signature that launches need.

    written: the arrays that it may write, by their positions among the leaves.
    lengths: the lengths that determine its grid; empty if the kernel does not imply them.
    uses_threads: whether it uses CUDA threads; otherwise it is plain loops.
    needs_dynamic_shared: whether a launch must give it dynamic shared memory.
    accumulator_arguments: arrays that it only adds to (``privatize_accumulators``).
    streamed_bytes: bytes of the arrays per thread, if non-temporal stores may be used for them
        (``nontemporal_stores``); else 0.
    """

    written: frozenset[int]
    lengths: tuple[Axis, ...] = ()
    uses_threads: bool = True
    needs_dynamic_shared: bool = False
    accumulator_arguments: tuple[int, ...] = ()
    streamed_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SpecializationKey:
    """What a kernel for one signature is compiled for. ``device``: the ordinal of the GPU."""

    backend: str
    assumptions: LaunchAssumptions
    device: int = 0


class Runner(Protocol):
    """A compiled kernel. ``direct`` is None where a launch takes more than a call."""

    @property
    def direct(self) -> Direct | None: ...

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None: ...

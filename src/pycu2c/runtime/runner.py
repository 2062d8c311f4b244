"""What every backend makes of a kernel: something that takes launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from pycu2c.records import dataclass
from pycu2c.runtime.arguments import Argument, Layout
from pycu2c.runtime.configuration import Extent, Launch

Axis: TypeAlias = tuple[int, int]  # a leaf of the arguments, and which of its axes, or NUMBER
NUMBER = -1


@dataclass(frozen=True, slots=True)
class Known:
    """Of a kernel for one signature: which arrays it may write, by their place among the leaves;
    what its grid follows from, if the kernel makes that plain; whether it asks for threads;
    whether a launch must give it shared memory; the arrays that are only ever added to
    (passes/accumulators.py)."""

    written: frozenset[int]
    lengths: tuple[Axis, ...]
    uses_threads: bool
    takes_shared: bool
    accumulating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """What a kernel for one signature is compiled for: ``ordinary`` launches (passes/facts.py), and
    a shape of blocks, or None: for any; arrays of which an OS thread has a copy. ``gpu`` is the
    device where it is loaded, and whose architecture it is for."""

    backend: str
    ordinary: bool
    block: Extent | None
    accumulators: tuple[int, ...] = ()
    gpu: int = 0


class Room(Protocol):
    """Memory for copies of a launch's arrays; ``address``: where C finds what it is (plan.c)."""

    @property
    def address(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Direct:
    """How C may start a kernel by itself: ``start(body, packed, blocks)``, both addresses, where
    ``packed`` is the head of the launch and the parameters after it. A code other than 0 is for
    ``finished``, with that head, which raises what it means.

    With a ``context``, ``start`` is cuLaunchKernel and ``body`` the kernel's handle: it is the
    address of cuCtxGetCurrent, and the context in which alone the kernel may be started so. What
    is refused goes the ordinary way, and ``finished`` is not asked. ``room`` gives the memory for
    copies of arrays of the host, if there is some: such a launch is waited for, and may give a
    code."""

    layout: Layout
    start: int
    body: int
    finished: Callable[[int, bytes], None]
    context: tuple[int, int] | None = None
    room: Callable[[], Room | None] | None = None


class Runner(Protocol):
    """A compiled kernel. ``direct`` is None where a launch takes more than a call."""

    @property
    def direct(self) -> Direct | None: ...

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None: ...

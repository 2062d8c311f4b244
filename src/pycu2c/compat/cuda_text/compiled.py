"""Define the interface of a CUDA C text compiled for one device: kernels and variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parameters import KernelParameter
from pycu2c.runtime.arguments.arguments import Layout
from pycu2c.runtime.runner import Runner


@dataclass(frozen=True, slots=True)
class ArgumentPacking:
    """How a launch packs its arguments.

    ``writable`` contains the positions of arrays that the kernel may write; ``names`` are the
    argument names in error messages.
    """

    layout: Layout
    writable: frozenset[int]
    names: tuple[str, ...]
    cooperative: bool = False  # all blocks are resident at the same time


class CompiledText(Protocol):
    """A CUDA C text compiled for one device."""

    log: str  # of the compiler

    def entry(self, name: str) -> str | None:
        """Return the entry point of a kernel by its source name; None if there is none."""

    @property
    def kernels(self) -> Sequence[str]:
        """Return the names of all kernels, for error messages."""

    def parameters(self, entry: str) -> tuple[KernelParameter, ...] | None:
        """Return the parameters of a kernel; None if they are unknown."""

    def runner(self, entry: str, form: ArgumentPacking) -> Runner: ...

    def attribute(self, entry: str, name: str) -> int:
        """Return a function attribute by its driver name, such as ``NUM_REGS``."""

    def set_attribute(self, entry: str, name: str, value: int) -> None: ...

    def variable(self, name: str) -> tuple[int, int] | None:
        """Return the address and size in bytes of a variable; None if there is none."""

"""What a CUDA C text is compiled to, for one machine: kernels and variables by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parameters import KernelParameter
from pycu2c.runtime.arguments.arguments import Layout
from pycu2c.runtime.runner import Runner


@dataclass(frozen=True, slots=True)
class ArgumentPacking:
    """What a launch's arguments are packed as. ``writable``: arrays that the kernel may write, by
    their places; ``names`` are what errors call the arguments."""

    layout: Layout
    writable: frozenset[int]
    names: tuple[str, ...]
    cooperative: bool = False  # all blocks run at the same time


class CompiledText(Protocol):
    """A text compiled for a machine."""

    log: str  # what the compiler said

    def entry(self, name: str) -> str | None:
        """What the compiled code calls a kernel that the user calls so; None if it has none."""

    @property
    def kernels(self) -> Sequence[str]:
        """The names of those that there are, for errors."""

    def parameters(self, entry: str) -> tuple[KernelParameter, ...] | None:
        """What a kernel takes; None if that is not known."""

    def runner(self, entry: str, form: ArgumentPacking) -> Runner: ...

    def attribute(self, entry: str, name: str) -> int:
        """What is known of a kernel, by the driver's name: ``NUM_REGS``."""

    def set_attribute(self, entry: str, name: str, value: int) -> None: ...

    def variable(self, name: str) -> tuple[int, int] | None:
        """The address of a variable, and how many bytes it has; None if there is none."""

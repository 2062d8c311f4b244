"""A kernel on the CPU with the layout of its arguments. Knows no compiler."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence

from pycu2c.diagnostics import LaunchError
from pycu2c.records import dataclass
from pycu2c.runtime.arguments import (
    Argument,
    ArrayArgument,
    HandleArgument,
    Layout,
    pack,
)
from pycu2c.runtime.configuration import HEAD, Launch
from pycu2c.runtime.cpu import CpuKernel
from pycu2c.runtime.runner import Direct


class Noted:
    """A launch that has been checked and packed. ``words`` are what C reads of it."""

    __slots__ = ("_form", "_kernel", "_packed", "words")

    def __init__(self, kernel: CpuKernel, launch: Launch, packed: bytes) -> None:
        self._kernel = kernel
        self._form = launch.grid, launch.block, launch.shared_bytes, packed
        self._packed = self._head() + packed
        place = ctypes.cast(ctypes.c_char_p(self._packed), ctypes.c_void_p).value or 0
        self.words = (*kernel.addresses, place, math.prod(launch.grid))

    def _head(self) -> bytes:
        grid, block, shared_bytes, _ = self._form
        return HEAD.pack(*grid, *block, shared_bytes)

    def __call__(self) -> None:
        self._kernel.launch(*self._form)

    def finished(self, code: int) -> None:
        """Raise what the code of a run means."""
        self._kernel.finished(code, self._head())


@dataclass(frozen=True, slots=True)
class CpuRunner:
    names: tuple[str, ...]
    layout: Layout
    kernel: CpuKernel

    @property
    def direct(self) -> Direct:
        return Direct(self.layout, *self.kernel.addresses, self.kernel.finished)

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        packed = self._packed(arguments)
        self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, packed)

    def noted(self, launch: Launch, arguments: Sequence[Argument]) -> Noted:
        """The launch, to be done later, and more than once; who does it keeps the arrays."""
        return Noted(self.kernel, launch, self._packed(arguments))

    def _packed(self, arguments: Sequence[Argument]) -> bytes:
        addresses = []
        for position, argument in enumerate(arguments):
            if isinstance(argument, HandleArgument):
                addresses.append(argument.handle("host"))
                continue
            if not isinstance(argument, ArrayArgument):
                addresses.append(0)
                continue
            if argument.where == "device":
                raise LaunchError(
                    f"{self.names[position]} lies on a GPU, and the launch is on the CPU: leave "
                    "backend='cpu' out, or copy it (copy_to_host(), CuPy's get(), PyTorch's cpu())"
                )
            addresses.append(argument.address)
        return pack(self.layout, arguments, addresses)

"""A kernel on the CPU with the layout of its arguments. Knows no compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pycu2c.diagnostics import LaunchError
from pycu2c.records import dataclass
from pycu2c.runtime.arguments import (
    Argument,
    ArrayArgument,
    HandleArgument,
    Layout,
    pack,
)
from pycu2c.runtime.configuration import Launch
from pycu2c.runtime.cpu import CpuKernel
from pycu2c.runtime.runner import Direct


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

    def as_action(self, launch: Launch, arguments: Sequence[Argument]) -> Callable[[], None]:
        """The launch, to be done later, and more than once; who does it keeps the arrays."""
        form = launch.grid, launch.block, launch.shared_bytes, self._packed(arguments)
        return partial(self.kernel.launch, *form)

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

"""A kernel on the CPU with the layout of its arguments. Knows no compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pycu2c.diagnostics import LaunchError
from pycu2c.lazy import lazy_module
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

if TYPE_CHECKING:
    from pycu2c.runtime import direct, noted_on_cpu
else:  # of a launch that is the only one, neither is wanted
    direct = lazy_module("pycu2c.runtime.direct")
    noted_on_cpu = lazy_module("pycu2c.runtime.noted_on_cpu")


@dataclass(frozen=True, slots=True)
class CpuRunner:
    names: tuple[str, ...]
    layout: Layout
    kernel: CpuKernel

    @property
    def direct(self) -> direct.Direct:
        return direct.Direct(self.layout, *self.kernel.addresses, self.kernel.finished)

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        packed = self._packed(arguments)
        self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, packed)

    def noted(self, launch: Launch, arguments: Sequence[Argument]) -> noted_on_cpu.Noted:
        """The launch, to be done later, and more than once; who does it keeps the arrays."""
        return noted_on_cpu.Noted(self.kernel, launch, self._packed(arguments))

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

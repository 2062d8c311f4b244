"""Launch CPU kernels with Python arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.arguments import Layout, pack
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner


class CapturedCpuLaunch:
    """A launch that has been checked and packed. ``step``: for a LaunchSequence."""

    __slots__ = ("_arguments", "_kernel", "step")

    def __init__(self, kernel: CpuKernel, launch: Launch, packed: bytes) -> None:
        self._kernel = kernel
        self._arguments = launch.grid, launch.block, launch.shared_bytes, packed
        self.step = (*kernel.addresses, self._header() + packed, math.prod(launch.grid))

    def _header(self) -> bytes:
        grid, block, shared_bytes, _ = self._arguments
        return LAUNCH_HEADER.pack(*grid, *block, shared_bytes)

    def __call__(self) -> None:
        self._kernel.launch(*self._arguments)

    def raise_for_code(self, code: int) -> None:
        """Raise the error that an exit code means."""
        self._kernel.raise_for_code(code, self._header())


@dataclass(frozen=True, slots=True)
class CpuRunner(Runner):
    names: tuple[str, ...]
    layout: Layout
    kernel: CpuKernel

    @property
    def fast_path(self) -> FastPathLaunch:
        return FastPathLaunch(self.layout, *self.kernel.addresses, self.kernel.raise_for_code)

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        packed = self._packed(arguments)
        self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, packed)

    def capture(self, launch: Launch, arguments: Sequence[Argument]) -> CapturedCpuLaunch:
        """Return a launch that can be replayed; the caller keeps the arrays alive."""
        return CapturedCpuLaunch(self.kernel, launch, self._packed(arguments))

    def _packed(self, arguments: Sequence[Argument]) -> bytes:
        addresses = []
        for position, argument in enumerate(arguments):
            if isinstance(argument, HandleArgument):
                addresses.append(argument.handle("host"))
                continue
            if not isinstance(argument, ArrayArgument):
                addresses.append(0)
                continue
            if argument.location == "device":
                raise LaunchError(
                    f"{self.names[position]} is on a GPU, and the launch is on the CPU: leave "
                    "backend='cpu' out, or copy it (copy_to_host(), CuPy's get(), PyTorch's cpu())"
                )
            addresses.append(argument.address)
        return pack(self.layout, arguments, addresses)

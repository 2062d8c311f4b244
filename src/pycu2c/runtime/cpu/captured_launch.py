"""Replay captured launches on the CPU."""

from __future__ import annotations

import math

from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, Launch


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

"""Replay captured launches on the CPU."""

from __future__ import annotations

import ctypes
import math

from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.launch_configuration import HEAD, Launch


class CapturedCpuLaunch:
    """A checked and packed launch. ``words``: what C needs to launch it."""

    __slots__ = ("_form", "_kernel", "_packed", "words")

    def __init__(self, kernel: CpuKernel, launch: Launch, packed: bytes) -> None:
        self._kernel = kernel
        self._form = launch.grid, launch.block, launch.shared_bytes, packed
        self._packed = self._head() + packed
        address = ctypes.cast(ctypes.c_char_p(self._packed), ctypes.c_void_p).value or 0
        self.words = (*kernel.addresses, address, math.prod(launch.grid))

    def _head(self) -> bytes:
        grid, block, shared_bytes, _ = self._form
        return HEAD.pack(*grid, *block, shared_bytes)

    def __call__(self) -> None:
        self._kernel.launch(*self._form)

    def finished(self, code: int) -> None:
        """Raise the error that an exit code means."""
        self._kernel.finished(code, self._head())

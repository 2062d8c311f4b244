"""What stands around an array of the host where a kernel is called: ``In``, ``Out``, ``InOut``."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.pycuda.memory.allocations import (
    DeviceAllocation,
    mem_alloc_like,
    memcpy_dtoh,
    memcpy_htod,
)


class ArgumentHandler:
    """An array of the host, and memory of the device in its place."""

    def __init__(self, ary: Any) -> None:
        self.array = ary
        self.dev_alloc: DeviceAllocation | None = None

    def get_device_alloc(self) -> DeviceAllocation:
        """As much memory as the array has. Raises TypeError."""
        if self.dev_alloc is None:
            if not hasattr(self.array, "nbytes"):
                raise TypeError(
                    f"could not determine array length of '{type(self.array)}': unsupported array "
                    "type or not an array"
                )
            self.dev_alloc = mem_alloc_like(self.array)
        return self.dev_alloc

    def pre_call(self, stream: object) -> None:
        """What is done before the launch."""

    def post_call(self, stream: object) -> None:
        """What is done after it."""

    writes = False


class In(ArgumentHandler):
    """An array that a kernel reads."""

    def pre_call(self, stream: object) -> None:
        memcpy_htod(self.get_device_alloc(), self.array)


class Out(ArgumentHandler):
    """An array that a kernel writes."""

    writes = True

    def post_call(self, stream: object) -> None:
        memcpy_dtoh(self.array, self.get_device_alloc())


class InOut(In, Out):
    """An array that a kernel reads and writes."""

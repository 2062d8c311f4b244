"""Implement ``In``, ``Out`` and ``InOut``, which copy host arrays for a kernel call."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.pycuda.memory.allocations import (
    DeviceAllocation,
    mem_alloc_like,
    memcpy_dtoh,
    memcpy_htod,
)


class ArgumentHandler:
    """A host array and its device memory."""

    def __init__(self, ary: Any) -> None:
        self.array = ary
        self.dev_alloc: DeviceAllocation | None = None

    def get_device_alloc(self) -> DeviceAllocation:
        """Return the device memory of the array, which is allocated once.

        Raises
        ------
        TypeError
            If the object is not an array.
        """
        if self.dev_alloc is None:
            if not hasattr(self.array, "nbytes"):
                raise TypeError(
                    f"could not determine array length of '{type(self.array)}': unsupported array "
                    "type or not an array"
                )
            self.dev_alloc = mem_alloc_like(self.array)
        return self.dev_alloc

    def pre_call(self, stream: object) -> None:
        """Copy before the launch."""

    def post_call(self, stream: object) -> None:
        """Copy after the launch."""

    writes = False


class In(ArgumentHandler):
    """A host array that a kernel reads."""

    def pre_call(self, stream: object) -> None:
        memcpy_htod(self.get_device_alloc(), self.array)


class Out(ArgumentHandler):
    """A host array that a kernel writes."""

    writes = True

    def post_call(self, stream: object) -> None:
        memcpy_dtoh(self.array, self.get_device_alloc())


class InOut(In, Out):
    """A host array that a kernel reads and writes."""

"""Implement PyCUDA's devices and contexts.

The device is a GPU, or the CPU if there is no GPU. A context only refers to a device: kernels and
memory belong to the device's primary context.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from pycu2c.compat.cupy.memoize import memoize
from pycu2c.compat.pycuda.enums import compute_mode, device_attribute
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import gpu_selection, streams

F = TypeVar("F", bound=Callable[..., Any])

# attributes that the CPU device names differently, and the values of those that it lacks
_CPU_NAMES = {"MAX_THREADS_PER_MULTIPROCESSOR": "MAX_THREADS_PER_MULTI_PROCESSOR"}
_CPU_ATTRIBUTES = {"COMPUTE_MODE": 0, "MAX_PITCH": 2**31 - 1, "CLOCK_RATE": 0, "GPU_OVERLAP": 0}


def init(flags: int = 0) -> None:
    """Do nothing: the driver starts when it is used."""


def get_version() -> tuple[int, int, int]:
    """Return the version of CUDA whose API this implements."""
    return (13, 0, 0)


def get_driver_version() -> int:
    """Return the driver's version, such as 13000; for the CPU that of ``get_version``."""
    if driver.available():
        return int(driver.call("cuDriverGetVersion", doing="query the driver's version"))
    return 13000


class Device:
    """A GPU, or the CPU if there is no GPU: ``Device(0)``."""

    __slots__ = ("_device", "number")

    def __init__(self, number: int = 0) -> None:
        if not 0 <= number < Device.count():
            raise LogicError(f"no device {number} among {Device.count()} devices")
        self.number = number
        is_gpu = driver.available()
        self._device: Any = (
            gpu_selection.gpus[number] if is_gpu else gpu_selection.get_current_device()
        )

    @staticmethod
    def count() -> int:
        """Return the number of devices; the CPU counts as one if there is no GPU."""
        return len(gpu_selection.gpus) if driver.available() else 1

    def name(self) -> str:
        """Return the name."""
        return str(self._device.name)

    def compute_capability(self) -> tuple[int, int]:
        """Return the compute capability, such as ``(9, 0)``."""
        major, minor = self._device.compute_capability
        return major, minor

    def total_memory(self) -> int:
        """Return the total memory in bytes."""
        return int(self._device.memory.total)

    def get_attribute(self, attribute: Any) -> int:
        """Return an attribute: ``device_attribute.WARP_SIZE``."""
        name = device_attribute(attribute).name
        if not driver.available() and name in _CPU_ATTRIBUTES:
            value = _CPU_ATTRIBUTES[name]
        else:
            names = {} if driver.available() else _CPU_NAMES
            try:
                value = int(getattr(self._device, names.get(name, name)))
            except AttributeError:
                raise LogicError(f"{self.name()} has no attribute {name}") from None
        return compute_mode(value) if name == "COMPUTE_MODE" else value

    def get_attributes(self) -> dict[Any, int]:
        """Return all attributes."""
        values = {}
        for attribute in device_attribute:
            with contextlib.suppress(LogicError):
                values[attribute] = self.get_attribute(attribute)
        return values

    def __getattr__(self, name: str) -> int:
        """Return an attribute by its lower-case name: ``device.warp_size``."""
        if name.startswith("_") or name.upper() not in device_attribute.__members__:
            raise AttributeError(f"a device has no {name}", name=name, obj=self)
        return self.get_attribute(device_attribute[name.upper()])

    def make_context(self, flags: int = 0) -> Context:
        """Return a context of the device, after pushing it."""
        context = Context(self)
        context.push()
        return context

    def retain_primary_context(self) -> Context:
        """Return the primary context, without pushing it."""
        return Context(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


class _ContextStack(threading.local):
    def __init__(self) -> None:
        self.stack: list[Context] = []

    def select_device(self) -> None:
        """Select the device of the current context."""
        if self.stack and driver.available():
            driver.set_device(self.stack[-1]._device.number)


_CONTEXTS = _ContextStack()


class Context:
    """A context. A thread without one uses the first device."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def push(self) -> None:
        """Make this the current context."""
        _CONTEXTS.stack.append(self)
        _CONTEXTS.select_device()

    @staticmethod
    def pop() -> None:
        """Restore the previous context."""
        if not _CONTEXTS.stack:
            raise LogicError("cannot pop non-current context: no context was pushed")
        _CONTEXTS.stack.pop()
        _CONTEXTS.select_device()

    def detach(self) -> None:
        """Remove the context from the stack of the calling thread."""
        with contextlib.suppress(ValueError):
            _CONTEXTS.stack.remove(self)
        _CONTEXTS.select_device()

    @staticmethod
    def get_current() -> Context | None:
        """Return the context of the calling thread."""
        return _CONTEXTS.stack[-1] if _CONTEXTS.stack else None

    @staticmethod
    def get_device() -> Device:
        """Return the device of the calling thread."""
        return Device(driver.current_ordinal() if driver.available() else 0)

    @staticmethod
    def synchronize() -> None:
        """Wait for all work of the device."""
        streams.synchronize()


# ---- pycuda.tools ------------------------------------------------------------------------------


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """Return a new current context on the device that CUDA_DEVICE names, or on the first one."""
    return (ctx_maker or Device.make_context)(Device(int(os.environ.get("CUDA_DEVICE", "0"))))


def context_dependent_memoize(func: F) -> F:
    """Return a function that caches its results for each device."""
    return memoize(for_each_device=True)(func)


def clear_context_caches() -> None:
    """Do nothing: results of memoized functions stay valid, as do contexts."""


document_parameters(
    globals(),
    """
flags : int | Ignored.
attribute : device_attribute | The attribute.
ctx_maker : callable | Creates a context of a device.
func : callable | The function, of hashable arguments.
""",
)

"""Implement PyCUDA's devices and contexts.

The device is a GPU, or the CPU if there is no GPU. A context only refers to a device: kernels and
memory belong to the device's primary context.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from pycu2c.compat.pycuda.enums import compute_mode, device_attribute
from pycu2c.compat.pycuda.errors import LogicError, translate_errors
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.cuda_driver import driver
from pycu2c.devices import gpu_selection, streams
from pycu2c.devices.cpu_device import CPU
from pycu2c.runtime.cuda import memory_pool

# attributes that the CPU device names differently, and the values of those that it lacks
_CPU_NAMES = {"MAX_THREADS_PER_MULTIPROCESSOR": "MAX_THREADS_PER_MULTI_PROCESSOR"}
_CPU_ATTRIBUTES = {
    "COMPUTE_MODE": int(compute_mode.DEFAULT),
    "MAX_PITCH": 2**31 - 1,
    "TEXTURE_ALIGNMENT": 512,
    "CLOCK_RATE": 0,
    "GPU_OVERLAP": 0,
    "ECC_ENABLED": 0,
    "MAXIMUM_TEXTURE1D_LINEAR_WIDTH": 2**28,
}


def init(flags: int = 0) -> None:
    """Do nothing: the driver starts when it is used."""


def get_version() -> tuple[int, int, int]:
    """Return the version of CUDA whose API this implements."""
    return (13, 0, 0)


def get_driver_version() -> int:
    """Return the driver's version, such as 13000; for the CPU that of ``get_version``."""
    if on_gpu():
        return int(driver.check(driver.api().cuDriverGetVersion(), "query the driver's version"))
    major, minor, _ = get_version()
    return 1000 * major + 10 * minor


class Device:
    """A GPU, or the CPU if there is no GPU: ``Device(0)``."""

    __slots__ = ("_device", "number")

    @translate_errors
    def __init__(self, number: int | str = 0) -> None:
        ordinal = _ordinal_of_bus_id(number) if isinstance(number, str) else number
        count = Device.count()
        if not 0 <= ordinal < count:
            raise LogicError(f"cuDeviceGet failed: no device {number} among {count} devices")
        self.number = ordinal
        self._device: Any = gpu_selection.gpus[ordinal] if on_gpu() else CPU

    @staticmethod
    def count() -> int:
        """Return the number of devices; the CPU counts as one if there is no GPU."""
        return len(gpu_selection.gpus) if on_gpu() else 1

    def name(self) -> str:
        """Return the name."""
        return str(self._device.name)

    def pci_bus_id(self) -> str:
        """Return the PCI address: ``0000:65:00.0``."""
        domain = self._integer_attribute("PCI_DOMAIN_ID") if on_gpu() else 0
        bus, slot = self._integer_attribute("PCI_BUS_ID"), self._integer_attribute("PCI_DEVICE_ID")
        return f"{domain:04X}:{bus:02X}:{slot:02X}.0"

    def compute_capability(self) -> tuple[int, int]:
        """Return the compute capability, such as ``(9, 0)``."""
        major, minor = self._device.compute_capability
        return major, minor

    @translate_errors
    def total_memory(self) -> int:
        """Return the total memory in bytes."""
        return int(self._device.memory.total)

    @translate_errors
    def get_attribute(self, attribute: Any) -> int:
        """Return an attribute: ``device_attribute.WARP_SIZE``."""
        name = device_attribute(attribute).name
        try:
            value = self._integer_attribute(name)
        except AttributeError:
            raise LogicError(f"cuDeviceGetAttribute failed: {self.name()} has no {name}") from None
        return compute_mode(value) if name == "COMPUTE_MODE" else value

    def get_attributes(self) -> dict[Any, int]:
        """Return all attributes."""
        values = {}
        for attribute in device_attribute:
            with contextlib.suppress(LogicError):
                values[attribute] = self.get_attribute(attribute)
        return values

    def _integer_attribute(self, name: str) -> int:
        if on_gpu():
            return int(getattr(self._device, name))
        if name in _CPU_ATTRIBUTES:
            return _CPU_ATTRIBUTES[name]
        return int(getattr(self._device, _CPU_NAMES.get(name, name)))

    def __getattr__(self, name: str) -> int:
        """Return an attribute by its lower-case name: ``device.warp_size``."""
        if name.startswith("_") or name.upper() not in device_attribute.__members__:
            raise AttributeError(f"a device has no {name}", name=name, obj=self)
        return self.get_attribute(device_attribute[name.upper()])

    def make_context(self, flags: int = 0) -> Context:
        """Create a context of the device and push it.

        Returns
        -------
        Context
            The context.
        """
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

    def __repr__(self) -> str:
        return f"<pycu2c.pycuda.driver.Device {self.number}: {self.name()}>"


def _ordinal_of_bus_id(bus_id: str) -> int:
    """Return the ordinal of the device with a PCI address."""
    for number in range(Device.count()):
        if Device(number).pci_bus_id().lower() == bus_id.lower():
            return number
    raise LogicError(f"no device has the PCI address {bus_id}")


class _ContextStack(threading.local):
    def __init__(self) -> None:
        self.stack: list[Context] = []


_THREAD_LOCAL = _ContextStack()


class Context:
    """A context. A thread without one uses the first device."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def push(self) -> None:
        """Make this the current context."""
        _THREAD_LOCAL.stack.append(self)
        self._make_device_current()

    def _make_device_current(self) -> None:
        if on_gpu():
            driver.set_device(self._device.number)

    @staticmethod
    def pop() -> None:
        """Restore the previous context."""
        if not _THREAD_LOCAL.stack:
            raise LogicError("cannot pop non-current context: no context was pushed")
        _THREAD_LOCAL.stack.pop()
        if _THREAD_LOCAL.stack:
            _THREAD_LOCAL.stack[-1]._make_device_current()

    def detach(self) -> None:
        """Remove the context from the stack of the calling thread."""
        if self in _THREAD_LOCAL.stack:
            _THREAD_LOCAL.stack.remove(self)
        if _THREAD_LOCAL.stack:
            _THREAD_LOCAL.stack[-1]._make_device_current()

    @staticmethod
    def get_current() -> Context | None:
        """Return the context of the calling thread."""
        return _THREAD_LOCAL.stack[-1] if _THREAD_LOCAL.stack else None

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """Return the context of the calling thread, or a new one of its device."""
        return Context.get_current() or Context(Context.get_device())

    @staticmethod
    def get_device() -> Device:
        """Return the device of the calling thread."""
        return Device(driver.current_ordinal() if on_gpu() else 0)

    @staticmethod
    @translate_errors
    def synchronize() -> None:
        """Wait for all work of the device."""
        streams.synchronize()


def release_unused_memory() -> None:
    """Return unused memory to the driver."""
    if on_gpu():
        memory_pool.trim()

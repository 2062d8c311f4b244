"""Devices and contexts by PyCUDA's names. A thread works on a GPU, or on the CPU where there is
none; a context says which, and holds nothing of its own."""

from __future__ import annotations

import threading
from typing import Any

from pycu2c.compat.pycuda.enums import (
    compute_mode,
    device_attribute,
    func_cache,
    limit,
    shared_config,
)
from pycu2c.compat.pycuda.errors import LogicError, translating
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.cuda_driver import driver
from pycu2c.devices import gpu_selection, streams
from pycu2c.devices.cpu_device import CPU
from pycu2c.runtime.cuda import memory_pool

_NAMED = {"MAX_THREADS_PER_MULTIPROCESSOR": "MAX_THREADS_PER_MULTI_PROCESSOR"}  # as the CPU has it
_OF_THE_CPU = {
    "COMPUTE_MODE": int(compute_mode.DEFAULT),
    "MAX_PITCH": 2**31 - 1,
    "TEXTURE_ALIGNMENT": 512,
    "CLOCK_RATE": 0,
    "GPU_OVERLAP": 0,
    "ECC_ENABLED": 0,
    "MAXIMUM_TEXTURE1D_LINEAR_WIDTH": 2**28,
}


def init(flags: int = 0) -> None:
    """Nothing is left to do: the driver starts when it is used."""


def get_version() -> tuple[int, int, int]:
    """The version of CUDA whose names these are."""
    return (13, 0, 0)


def get_driver_version() -> int:
    """The version that the driver has: 13000; of the CPU as ``get_version`` has it."""
    if on_gpu():
        return int(driver.check(driver.api().cuDriverGetVersion(), "ask for the driver's version"))
    major, minor, _ = get_version()
    return 1000 * major + 10 * minor


class Device:
    """A GPU, or the CPU where there is none: ``Device(0)``."""

    __slots__ = ("_device", "number")

    @translating
    def __init__(self, number: int | str = 0) -> None:
        found = _by_bus_id(number) if isinstance(number, str) else number
        count = Device.count()
        if not 0 <= found < count:
            raise LogicError(f"cuDeviceGet failed: there are {count} devices, and none is {number}")
        self.number = found
        self._device: Any = gpu_selection.gpus[found] if on_gpu() else CPU

    @staticmethod
    def count() -> int:
        """How many devices there are; the CPU counts where there is no GPU."""
        return len(gpu_selection.gpus) if on_gpu() else 1

    def name(self) -> str:
        """What it is called."""
        return str(self._device.name)

    def pci_bus_id(self) -> str:
        """Where it is: ``0000:65:00.0``."""
        domain = self._number("PCI_DOMAIN_ID") if on_gpu() else 0
        bus, slot = self._number("PCI_BUS_ID"), self._number("PCI_DEVICE_ID")
        return f"{domain:04X}:{bus:02X}:{slot:02X}.0"

    def compute_capability(self) -> tuple[int, int]:
        """What kernels may use: ``(9, 0)``."""
        major, minor = self._device.compute_capability
        return major, minor

    @translating
    def total_memory(self) -> int:
        """Its bytes."""
        return int(self._device.memory.total)

    @translating
    def get_attribute(self, attribute: Any) -> int:
        """A number of it: ``device_attribute.WARP_SIZE``."""
        row = device_attribute(attribute)
        try:
            found = self._number(row.name)
        except AttributeError:
            raise LogicError(
                f"cuDeviceGetAttribute failed: {self.name()} has no {row.name}"
            ) from None
        return compute_mode(found) if row.name == "COMPUTE_MODE" else found

    def get_attributes(self) -> dict[Any, int]:
        """All numbers of it."""
        found = {}
        for row in device_attribute:
            try:
                found[row] = self.get_attribute(row)
            except LogicError:
                continue
        return found

    def _number(self, name: str) -> int:
        if on_gpu():
            return int(getattr(self._device, name))
        if name in _OF_THE_CPU:
            return _OF_THE_CPU[name]
        return int(getattr(self._device, _NAMED.get(name, name)))

    def __getattr__(self, name: str) -> int:
        """``device.warp_size``."""
        if name.startswith("_") or name.upper() not in device_attribute.__members__:
            raise AttributeError(f"a device has no {name}", name=name, obj=self)
        return self.get_attribute(device_attribute[name.upper()])

    def make_context(self, flags: int = 0) -> Context:
        """Work on it from now on."""
        made = Context(self)
        made.push()
        return made

    def retain_primary_context(self) -> Context:
        """Its context, which is not pushed."""
        return Context(self)

    def can_access_peer(self, other: Device) -> bool:
        """Whether its kernels can use the memory of another one."""
        return bool(self._device.can_access_peer(other.number))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)

    def __repr__(self) -> str:
        return f"<pycu2c.pycuda.driver.Device {self.number}: {self.name()}>"


def _by_bus_id(bus_id: str) -> int:
    """The number of the device at a place."""
    for number in range(Device.count()):
        if Device(number).pci_bus_id().lower() == bus_id.lower():
            return number
    raise LogicError(f"there is no device at {bus_id}")


class _Thread(threading.local):
    def __init__(self) -> None:
        self.stack: list[Context] = []


_THREAD = _Thread()


class Context:
    """The device that a thread works on. A thread without one works on the first."""

    def __init__(self, device: Device) -> None:
        self._device, self._limits = device, {limit.STACK_SIZE: 1024}

    def push(self) -> None:
        """Work on its device from now on."""
        _THREAD.stack.append(self)
        self._enter()

    def _enter(self) -> None:
        if on_gpu():
            driver.set_device(self._device.number)

    @staticmethod
    def pop() -> None:
        """Go back to the context before."""
        if not _THREAD.stack:
            raise LogicError("cannot pop non-current context: no context was pushed")
        _THREAD.stack.pop()
        if _THREAD.stack:
            _THREAD.stack[-1]._enter()

    def detach(self) -> None:
        """Be done with it."""
        if self in _THREAD.stack:
            _THREAD.stack.remove(self)
        if _THREAD.stack:
            _THREAD.stack[-1]._enter()

    @staticmethod
    def get_current() -> Context | None:
        """The context of the calling thread."""
        return _THREAD.stack[-1] if _THREAD.stack else None

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """The context of the calling thread."""
        return Context.get_current() or Context(Context.get_device())

    @staticmethod
    def get_device() -> Device:
        """The device that the calling thread works on."""
        return Device(driver.current_ordinal() if on_gpu() else 0)

    @staticmethod
    @translating
    def synchronize() -> None:
        """Wait until all work on the device is done."""
        streams.synchronize()

    def get_api_version(self) -> int:
        """The version of the driver's interface."""
        return get_driver_version()

    @staticmethod
    @translating
    def set_limit(which: Any, value: int) -> None:
        """Limit something: ``limit.STACK_SIZE``."""
        if on_gpu():
            driver.make_current()
            kind = driver.api().CUlimit(int(which))
            driver.check(driver.api().cuCtxSetLimit(kind, value), "set a limit")

    @staticmethod
    @translating
    def get_limit(which: Any) -> int:
        """What is limited to what."""
        if not on_gpu():
            return 0
        driver.make_current()
        kind = driver.api().CUlimit(int(which))
        return int(driver.check(driver.api().cuCtxGetLimit(kind), "read a limit"))

    @staticmethod
    def get_cache_config() -> func_cache:
        """Which memory is to be the larger."""
        return func_cache.PREFER_NONE

    @staticmethod
    def set_cache_config(config: Any) -> None:
        """A wish, which GPUs of today need not follow."""
        func_cache(config)

    @staticmethod
    def get_shared_config() -> shared_config:
        """How wide a bank of shared memory is."""
        return shared_config.FOUR_BYTE_BANK_SIZE

    @staticmethod
    def set_shared_config(config: Any) -> None:
        """A wish, which GPUs of today need not follow."""
        shared_config(config)

    def enable_peer_access(self, peer: Context, flags: int = 0) -> None:
        """Let its kernels use the memory of another device."""
        self._device._device.enable_peer_access(peer._device.number)

    def disable_peer_access(self, peer: Context) -> None:
        """Nothing: whoever has had access keeps it."""


def give_back() -> None:
    """Return memory that nobody uses to the driver."""
    if on_gpu():
        memory_pool.trim()

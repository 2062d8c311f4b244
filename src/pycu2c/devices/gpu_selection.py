"""The GPUs of this machine, and which of them the calling thread works on."""

from __future__ import annotations

import operator
import threading
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from pycu2c.base import graph_capture
from pycu2c.base.backends import gpu_disabled_by
from pycu2c.base.lazy_imports import lazy_module
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import NoDeviceError
from pycu2c.devices.cpu_device import CPU, DeviceName, MemoryInfo
from pycu2c.runtime.cuda import memory_pool, peer_access
from pycu2c.runtime.cuda.memory import HOST

if TYPE_CHECKING:
    from pycu2c.devices import contexts
else:
    contexts = lazy_module("pycu2c.devices.contexts")

Where: TypeAlias = (
    "int | Literal['cpu'] | None"  # of a GPU its number; None: the current GPU, if any
)


class Gpu:
    """A GPU. ``with cuda.gpus[1]:`` works on it, and then where the thread was before."""

    __slots__ = ("_device",)

    supports_float16 = True

    def __init__(self, device: driver.DriverDevice) -> None:
        self._device = device

    def __repr__(self) -> str:
        return f"<GPU {self.id}: {self.name}, {self.arch}>"

    def __index__(self) -> int:
        return self.id

    @property
    def id(self) -> int:
        """Its number, from 0."""
        return self._device.ordinal

    @property
    def name(self) -> DeviceName:
        return DeviceName(self._device.name)

    @property
    def uuid(self) -> str:
        """What tells it from all others: ``GPU-e6489c45-…``."""
        answer = driver.api().cuDeviceGetUuid(self._device.handle)
        return f"GPU-{uuid.UUID(bytes=driver.check(answer, 'read the UUID of a GPU').bytes)}"

    @property
    def arch(self) -> str:
        """What kernels are compiled for: ``sm_90``."""
        return self._device.arch

    @property
    def compute_capability(self) -> tuple[int, int]:
        number = int(self.arch.removeprefix("sm_"))
        return number // 10, number % 10

    def __getattr__(self, name: str) -> int:
        """A number of the GPU by the driver's name: ``gpu.MULTIPROCESSOR_COUNT``."""
        bindings = driver.api()
        plain = _SPELLED.get(name, name)
        which = getattr(bindings.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{plain}", None)
        if which is None:
            raise AttributeError(f"a GPU has no {name}", name=name, obj=self)
        answer = bindings.cuDeviceGetAttribute(which, self._device.handle)
        return int(driver.check(answer, f"read {name} of GPU {self.id}"))

    @property
    def memory(self) -> MemoryInfo:
        """How much is free, and how much there is. Memory that the pool keeps is not free."""
        with self._there():
            return MemoryInfo(*memory_pool.free_and_total())

    def synchronize(self) -> None:
        """Wait until all work on it is done. Errors of kernels surface here."""
        graph_capture.reject_synchronization("synchronize()")
        with self._there():
            driver.check(driver.api().cuCtxSynchronize(), f"wait for GPU {self.id}")

    def reset(self) -> None:
        """Wait for it, and give memory that nobody uses back to the driver."""
        with self._there():
            memory_pool.trim()

    def get_primary_context(self) -> contexts.Context:
        """What numba calls its context."""
        return contexts.Context(self)

    def can_access_peer(self, other: int | Gpu) -> bool:
        """Whether its kernels can use the memory of another GPU."""
        return peer_access.can_access(self.id, _checked(other))

    def enable_peer_access(self, other: int | Gpu) -> None:
        """Let its kernels use arrays of another GPU. Such a launch waits for the default stream of
        the other GPU, and that for the launch."""
        peer_access.enable_access(self.id, _checked(other))

    def _there(self) -> Any:
        driver.make_current()
        return driver.on_device(self.id)

    def __enter__(self) -> Gpu:
        before = driver.current_ordinal()
        _select(self.id)
        _THREAD.before.append(before)
        return self

    def __exit__(self, *_: object) -> None:
        _select(_THREAD.before.pop())


_SPELLED = {  # numba's way
    "MAX_THREADS_PER_MULTI_PROCESSOR": "MAX_THREADS_PER_MULTIPROCESSOR",
    "IS_MULTI_GPU_BOARD": "MULTI_GPU_BOARD",
}


class _ThreadGpus(threading.local):
    def __init__(self) -> None:
        self.before: list[int] = []  # the devices to go back to


_THREAD = _ThreadGpus()


class Gpus:
    """All GPUs, in order; none where there is no GPU, or no driver. If the environment says that
    kernels run on the CPU, that stands for one."""

    def __len__(self) -> int:
        return len(driver.devices()) if driver.available() else int(bool(gpu_disabled_by()))

    @overload
    def __getitem__(self, number: int) -> Gpu: ...
    @overload
    def __getitem__(self, number: slice) -> list[Gpu]: ...
    def __getitem__(self, number: int | slice) -> Gpu | list[Gpu]:
        if isinstance(number, slice):
            return list(self)[number]
        ordinal = _checked(number)
        return Gpu(driver.devices()[ordinal]) if driver.available() else _stand_in()

    def __iter__(self) -> Iterator[Gpu]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return repr(list(self))

    @property
    def lst(self) -> list[Gpu]:
        """The same as a list."""
        return list(self)

    @property
    def current(self) -> Gpu:
        """The one that the calling thread works on."""
        return get_current_device()


def _stand_in() -> Any:
    """The CPU: it has what programs ask a GPU for, and is none."""
    return CPU


gpus = Gpus()


def is_available() -> bool:
    """Whether there is a GPU to work on, or the environment says that kernels run on the CPU."""
    return driver.available() or bool(gpu_disabled_by())


def select_device(device_id: int) -> Gpu:
    """Let the calling thread work on a GPU from now on: its launches, new arrays and streams.
    Without a GPU, 0 is the CPU."""
    if not driver.available() and operator.index(device_id) == 0:
        return get_current_device()
    gpu = gpus[device_id]
    _select(gpu.id)
    return gpu


def get_current_device() -> Gpu:
    """The GPU that the calling thread works on: the first one, if it has selected none; without a
    GPU what stands for one, the CPU."""
    return Gpu(driver.device()) if driver.available() else _stand_in()


def list_devices() -> Gpus:
    """All GPUs."""
    return gpus


def can_access_peer(device: int, peer: int) -> bool:
    """Whether kernels of a GPU can use the memory of another one."""
    return gpus[device].can_access_peer(peer)


def ordinal_of(device: Where) -> int:
    """Where an array is to lie: the number of a GPU, or ``memory.HOST``."""
    if device == "cpu":
        return HOST
    if device is None:
        return driver.current_ordinal() if driver.available() else HOST
    ordinal = _checked(device)
    return ordinal if driver.available() else HOST


def _checked(number: int | Gpu) -> int:
    """The number of a GPU that there is. Raises IndexError, NoDeviceError."""
    try:
        ordinal, count = operator.index(number), len(gpus)
    except TypeError:
        raise TypeError(f"a device is the number of a GPU, or 'cpu', not {number!r}") from None
    if not count:
        raise NoDeviceError(
            "CUDA_ERROR_NO_DEVICE", driver.unavailable_reason(), f"use GPU {ordinal}"
        )
    if not 0 <= ordinal < count:
        there = "only GPU 0" if count == 1 else f"GPUs 0 to {count - 1}"
        raise IndexError(f"there is no GPU {ordinal} here, {there}")
    return ordinal


def _select(ordinal: int) -> None:
    if graph_capture.current() is not None and ordinal != driver.current_ordinal():
        graph_capture.reject("another GPU would be selected: a graph is of one")
    driver.set_device(ordinal)

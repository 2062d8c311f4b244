"""What numba's programs ask of contexts, the driver and the runtime. A thread works on a GPU, or on
the CPU where there is none; here it is named as numba names it, and holds nothing of its own."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from numpy.typing import NDArray

from pycu2c.cuda_driver import driver
from pycu2c.devices import allocation, streams
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.cpu_device import MemoryInfo
from pycu2c.devices.gpu_selection import Gpu, Gpus, get_current_device, gpus
from pycu2c.runtime.cuda import memory_pool
from pycu2c.toolchain.nvrtc import nvrtc

F = TypeVar("F", bound=Callable[..., object])


class Deallocations:
    """Memory that is to go back; there is none: it goes back when its last array goes."""

    def __len__(self) -> int:
        return 0

    def clear(self) -> None:
        """Give what the pool keeps back to the driver."""
        if driver.available():
            memory_pool.trim()

    @contextlib.contextmanager
    def disable(self) -> Iterator[None]:
        """As ``defer_cleanup``."""
        yield


class Context:
    """The place of a thread's work: ``cuda.current_context()``."""

    __slots__ = ("device",)

    def __init__(self, device: Gpu) -> None:
        self.device = device

    def __repr__(self) -> str:
        return f"<context of {self.device!r}>"

    @property
    def id(self) -> int:
        """The number of its device."""
        return self.device.id

    @property
    def deallocations(self) -> Deallocations:
        """What ``clear()`` gives back."""
        return Deallocations()

    def get_memory_info(self) -> MemoryInfo:
        """Bytes that are free, and all there are."""
        return self.device.memory

    def synchronize(self) -> None:
        """Wait until all work on the device is done."""
        self.device.synchronize()

    def reset(self) -> None:
        """Wait, and give memory that nobody uses back to the driver."""
        self.device.reset()

    def push(self) -> None:
        """Nothing: the thread is on the device."""

    def pop(self) -> None:
        """Nothing: the thread stays on the device."""

    def create_stream(self) -> streams.Stream:
        return streams.stream()

    def create_external_stream(self, ptr: object) -> streams.Stream:
        return streams.external_stream(ptr)

    def get_default_stream(self) -> streams.Stream:
        return streams.default_stream()

    def create_event(self, timing: bool = True) -> streams.Event:
        return streams.event(timing)

    def can_access_peer(self, peer_context: int | Context) -> bool:
        """Whether its kernels can use the memory of another device."""
        return self.device.can_access_peer(_number(peer_context))

    def enable_peer_access(self, peer_context: int | Context, flags: int = 0) -> None:
        """Let its kernels use the memory of another device."""
        self.device.enable_peer_access(_number(peer_context))

    def defer_cleanup(self) -> contextlib.AbstractContextManager[None]:
        return defer_cleanup()


def _number(other: int | Context) -> int:
    return other.id if isinstance(other, Context) else other


def current_context(devnum: int | None = None) -> Context:
    """The context of the calling thread, or of a device."""
    return Context(get_current_device() if devnum is None else gpus[devnum])


def require_context(function: F) -> F:
    """The function itself: what needs a context makes it."""
    return function


def close() -> None:
    """Wait for all work, and give memory that nobody uses back to the driver. Arrays stay."""
    gc.collect()
    if driver.available():
        memory_pool.trim()


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Nothing changes: memory goes back in the order of streams, and nobody waits for that."""
    yield


# ---- what there is -----------------------------------------------------------------------------


def detect() -> bool:
    """Print what GPUs there are; gives whether there is one."""
    found: Gpus = gpus
    print(f"Found {len(found)} CUDA devices")
    for gpu in found:
        print(f"id {gpu.id}    {gpu.name:>20}    [SUPPORTED]")
        told = {
            "Compute Capability": "{}.{}".format(*gpu.compute_capability),
            "PCI Device ID": gpu.PCI_DEVICE_ID,
            "PCI Bus ID": gpu.PCI_BUS_ID,
            "UUID": gpu.uuid,
            "Watchdog": "Enabled" if gpu.KERNEL_EXEC_TIMEOUT else "Disabled",
            "FP32/FP64 Performance Ratio": gpu.SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
        }
        for what, value in told.items():
            print(f"{what:>40}: {value}")
    print(f"Summary:\n\t{len(found)}/{len(found)} devices are supported")
    if not found:
        print(f"\t{driver.unavailable_reason()}: kernels run on the CPU")
    return len(found) > 0


def cuda_error() -> str | None:
    """Why there is no GPU to work on; None if there is one."""
    return driver.unavailable_reason() or None


def is_supported_version() -> bool:
    """Whether this package knows the version of CUDA here: it brings its own compiler."""
    return True


def is_float16_supported() -> bool:
    """Kernels have float16 on every target."""
    return True


def is_bfloat16_supported() -> bool:
    """Kernels have bfloat16 on every target."""
    return True


def is_fp8_supported() -> bool:
    """Kernels convert to float8 and back on every target."""
    return True


class Runtime:
    """``cuda.runtime``: the version of CUDA that kernels are compiled by."""

    def get_version(self) -> tuple[int, int]:
        """That of NVRTC. Raises ToolchainError where there is none."""
        return nvrtc.version()

    def is_supported_version(self) -> bool:
        return is_supported_version()

    @property
    def supported_versions(self) -> tuple[tuple[int, int], ...]:
        return (self.get_version(),)


runtime = Runtime()


# ---- arguments ---------------------------------------------------------------------------------


def In(ary: Any) -> DeviceArray:
    """An argument that a launch reads: a copy, so that what it writes is not written back."""
    return allocation.to_device(ary)


def Out(ary: NDArray[Any]) -> NDArray[Any]:
    """An argument that a launch writes: the array as it is. What is not read is not copied in."""
    return ary


def InOut(ary: NDArray[Any]) -> NDArray[Any]:
    """An argument that a launch reads and writes: the array as it is."""
    return ary

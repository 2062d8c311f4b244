"""The CPU in the place of a GPU: what programs ask of the device that they work on, where kernels
run on the CPU. Knows the limits of launches, which are the same there."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from typing import NamedTuple

from pycu2c.base.limits import MAX_BLOCK_THREADS, MAX_SHARED_BYTES
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.runtime.launch_configuration import LIMITS

_LANES = 32
_CONSTANT = 64 * 1024
_REGISTERS = 65536


class MemoryInfo(NamedTuple):
    """Bytes of a device."""

    free: int
    total: int


class DeviceName(str):
    """The name of a device: text, and as numba gives it, bytes that are to be decoded."""

    __slots__ = ()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text."""
        return str(self)


class Cpu:
    """Stands for the one device of a machine whose kernels run on the CPU.

    Numbers such as ``MAX_THREADS_PER_BLOCK`` are those of launches, which have the limits of a GPU
    there, too; ``MULTIPROCESSOR_COUNT`` is the number of OS threads that run blocks.
    """

    __slots__ = ()

    id = 0
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = (9, 0)  # all that kernels do is there
    supports_float16 = True

    def __repr__(self) -> str:
        return f"<CPU: {self.name}>"

    def __index__(self) -> int:
        return self.id

    @property
    def name(self) -> DeviceName:
        return DeviceName(_processor())

    def __getattr__(self, name: str) -> int:
        """A number by the driver's name: ``device.WARP_SIZE``."""
        known = _numbers()
        if name not in known:
            raise AttributeError(
                f"the CPU has no {name}: it has {', '.join(known)}", name=name, obj=self
            )
        return known[name]

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_numbers()]

    @property
    def memory(self) -> MemoryInfo:
        """How much of the host's memory is free, and how much there is."""
        if not hasattr(os, "sysconf"):
            return MemoryInfo(0, 0)
        page = os.sysconf("SC_PAGE_SIZE")
        return MemoryInfo(page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES"))

    def synchronize(self) -> None:
        """Launches on the CPU are done when they return."""

    def can_access_peer(self, other: object) -> bool:
        """There is no other."""
        return False

    def reset(self) -> None:
        """Nothing is kept."""

    def __enter__(self) -> Cpu:
        return self

    def __exit__(self, *_: object) -> None:
        pass


CPU = Cpu()


def _numbers() -> dict[str, int]:
    return {
        "MAX_THREADS_PER_BLOCK": MAX_BLOCK_THREADS,
        **{
            f"MAX_{what.upper()}_DIM_{axis}": most
            for what, limits in LIMITS.items()
            for axis, most in zip("XYZ", limits)
        },
        "MAX_SHARED_MEMORY_PER_BLOCK": 48 * 1024,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": MAX_SHARED_BYTES,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": MAX_SHARED_BYTES,
        "MAX_THREADS_PER_MULTI_PROCESSOR": 2 * MAX_BLOCK_THREADS,
        "MAX_REGISTERS_PER_BLOCK": _REGISTERS,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": _REGISTERS,
        "TOTAL_CONSTANT_MEMORY": _CONSTANT,
        "MULTIPROCESSOR_COUNT": thread_count(),
        "WARP_SIZE": _LANES,
        "COMPUTE_CAPABILITY_MAJOR": Cpu.compute_capability[0],
        "COMPUTE_CAPABILITY_MINOR": Cpu.compute_capability[1],
        "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
        "COOPERATIVE_LAUNCH": 1,
        "CONCURRENT_KERNELS": 1,
        "UNIFIED_ADDRESSING": 1,
        "MANAGED_MEMORY": 1,
        "CAN_MAP_HOST_MEMORY": 1,
        "INTEGRATED": 1,
        "ASYNC_ENGINE_COUNT": 0,
        "KERNEL_EXEC_TIMEOUT": 0,
        "TCC_DRIVER": 0,
        "PCI_BUS_ID": 0,
        "PCI_DEVICE_ID": 0,
    }


def _processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        with open("/proc/cpuinfo") as lines:
            found = next((line for line in lines if line.startswith("model name")), "")
    except OSError:
        found = ""
    return found.partition(":")[2].strip() or platform.processor() or platform.machine()

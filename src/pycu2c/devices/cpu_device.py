"""The CPU with the attributes of a GPU, for programs that query their device without a GPU."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from typing import NamedTuple

from pycu2c.base.lazy_imports import lazy_method
from pycu2c.base.limits import MAX_BLOCK_THREADS, MAX_SHARED_BYTES
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.runtime.launch_configuration import LIMITS

_REGISTERS = 65536  # of a block and a multiprocessor


class MemoryInfo(NamedTuple):
    """The memory of a device.

    Attributes
    ----------
    free, total : int
        The free and the total bytes.
    """

    free: int
    total: int


class DeviceName(str):
    """The name of a device. It has ``decode``, because numba's names are bytes."""

    __slots__ = ()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return str(self)


class Cpu:
    """The CPU as the only device of a machine.

    Its limits, such as ``MAX_THREADS_PER_BLOCK``, are those of launches on a GPU.
    ``MULTIPROCESSOR_COUNT`` is the number of OS threads that run blocks.
    """

    __slots__ = ()

    id = 0
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = (9, 0)  # every feature of kernels is supported
    supports_float16 = True

    def __repr__(self) -> str:
        return f"<CPU: {self.name}>"

    _repr_html_ = lazy_method("pycu2c.devices.html_views", "device_view")

    def __index__(self) -> int:
        return self.id

    @property
    def name(self) -> DeviceName:
        return DeviceName(_processor())

    def __getattr__(self, name: str) -> int:
        """Return an attribute by the driver's name: ``device.WARP_SIZE``."""
        attributes = _attributes()
        if name not in attributes:
            raise AttributeError(
                f"the CPU has no {name}: it has {', '.join(attributes)}", name=name, obj=self
            )
        return attributes[name]

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_attributes()]

    @property
    def memory(self) -> MemoryInfo:
        """The free and the total bytes of host memory."""
        if not hasattr(os, "sysconf"):
            return MemoryInfo(0, 0)
        page = os.sysconf("SC_PAGE_SIZE")
        return MemoryInfo(page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES"))

    def synchronize(self) -> None:
        """Do nothing: launches on the CPU are synchronous."""

    def can_access_peer(self, other: object) -> bool:
        """Return False: there is no other device."""
        return False

    def reset(self) -> None:
        """Do nothing: no memory is cached."""

    def __enter__(self) -> Cpu:
        return self

    def __exit__(self, *_: object) -> None:
        pass


CPU = Cpu()


def _attributes() -> dict[str, int]:
    return {
        "MAX_THREADS_PER_BLOCK": MAX_BLOCK_THREADS,
        **{
            f"MAX_{extent.upper()}_DIM_{axis}": limit
            for extent, limits in LIMITS.items()
            for axis, limit in zip("XYZ", limits)
        },
        "MAX_SHARED_MEMORY_PER_BLOCK": 48 * 1024,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": MAX_SHARED_BYTES,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": MAX_SHARED_BYTES,
        "MAX_THREADS_PER_MULTI_PROCESSOR": 2 * MAX_BLOCK_THREADS,
        "MAX_REGISTERS_PER_BLOCK": _REGISTERS,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": _REGISTERS,
        "TOTAL_CONSTANT_MEMORY": 64 * 1024,
        "MULTIPROCESSOR_COUNT": thread_count(),
        "WARP_SIZE": 32,
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
    """Return the name of the processor, or of the architecture."""
    try:
        with open("/proc/cpuinfo") as lines:
            model = next((line for line in lines if line.startswith("model name")), "")
    except OSError:
        model = ""
    return model.partition(":")[2].strip() or platform.processor() or platform.machine()

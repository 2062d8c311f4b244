"""Numba's functions for contexts, and for queries of the driver and the CUDA runtime."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

from pycu2c.cuda_driver import driver
from pycu2c.devices.gpu_device import Context
from pycu2c.devices.gpu_selection import get_current_device, gpus
from pycu2c.runtime.cuda import memory_pool
from pycu2c.toolchain.nvrtc import nvrtc

F = TypeVar("F", bound=Callable[..., object])


def current_context(devnum: int | None = None) -> Context:
    """Return the context of the calling thread, or of a device.

    Parameters
    ----------
    devnum : int, optional
        The number of the device; by default that of the calling thread.
    """
    return Context(get_current_device() if devnum is None else gpus[devnum])


def require_context(function: F) -> F:
    """Return the function unchanged: contexts are created when they are needed.

    Parameters
    ----------
    function : callable
        The function.
    """
    return function


def close() -> None:
    """Wait for all work, and return unused memory to the driver. Arrays stay valid."""
    gc.collect()
    if driver.available():
        memory_pool.trim()


# ---- queries -----------------------------------------------------------------------------------


def detect() -> bool:
    """Print the GPUs of this machine; return whether there is one.

    Returns
    -------
    bool
        Whether there is a GPU.
    """
    print(f"Found {len(gpus)} CUDA devices")
    for gpu in gpus:
        print(f"id {gpu.id}    {gpu.name:>20}    [SUPPORTED]")
        attributes = {
            "Compute Capability": "{}.{}".format(*gpu.compute_capability),
            "PCI Device ID": gpu.PCI_DEVICE_ID,
            "PCI Bus ID": gpu.PCI_BUS_ID,
            "UUID": gpu.uuid,
            "Watchdog": "Enabled" if gpu.KERNEL_EXEC_TIMEOUT else "Disabled",
            "FP32/FP64 Performance Ratio": gpu.SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
        }
        for name, value in attributes.items():
            print(f"{name:>40}: {value}")
    print(f"Summary:\n\t{len(gpus)}/{len(gpus)} devices are supported")
    if not gpus:
        print(f"\t{driver.unavailable_reason()}: kernels run on the CPU")
    return len(gpus) > 0


def cuda_error() -> str | None:
    """Return why there is no usable GPU; None if there is one."""
    return driver.unavailable_reason() or None


def is_supported_version() -> bool:
    """Return True: the package has its own compiler, so it supports each version of CUDA."""
    return True


def is_float16_supported() -> bool:
    """Return True: kernels support float16 on every target."""
    return True


def is_bfloat16_supported() -> bool:
    """Return True: kernels support bfloat16 on every target."""
    return True


def is_fp8_supported() -> bool:
    """Return True: kernels convert to and from float8 on every target."""
    return True


class Runtime:
    """``cuda.runtime``: the version of CUDA that compiles kernels."""

    def get_version(self) -> tuple[int, int]:
        """Return the version of NVRTC. Raises ToolchainError if NVRTC is missing."""
        return nvrtc.version()

    def is_supported_version(self) -> bool:
        """Return True: each version of CUDA is supported."""
        return is_supported_version()

    @property
    def supported_versions(self) -> tuple[tuple[int, int], ...]:
        """Return the versions of CUDA, as numba does."""
        return (self.get_version(),)


runtime = Runtime()

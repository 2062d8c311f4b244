"""The GPUs of this machine, and the current one of the calling thread.

A device is named by its ordinal, by "cpu" for host memory, or by None for the current GPU (the CPU
if there is no GPU). If the environment selects the CPU, the CPU takes the place of GPU 0.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, overload

from pycu2c.base.backends import gpu_disabled_by
from pycu2c.cuda_driver import driver
from pycu2c.devices.cpu_device import CPU
from pycu2c.devices.gpu_device import Gpu, check_ordinal, device_count, select
from pycu2c.runtime.cuda.memory import HOST

DeviceLike: TypeAlias = "int | Literal['cpu'] | None"


class Gpus:
    """All GPUs in order, or only the CPU if the environment selects it; otherwise empty."""

    def __len__(self) -> int:
        return device_count()

    @overload
    def __getitem__(self, index: int) -> Gpu: ...
    @overload
    def __getitem__(self, index: slice) -> list[Gpu]: ...
    def __getitem__(self, index: int | slice) -> Gpu | list[Gpu]:
        if isinstance(index, slice):
            return list(self)[index]
        ordinal = check_ordinal(index)
        return Gpu(driver.devices()[ordinal]) if driver.available() else _cpu_as_gpu()

    def __iter__(self) -> Iterator[Gpu]:
        return (self[ordinal] for ordinal in range(len(self)))

    def __repr__(self) -> str:
        return repr(list(self))

    @property
    def lst(self) -> list[Gpu]:
        """The GPUs as a list."""
        return list(self)

    @property
    def current(self) -> Gpu:
        """The current GPU of the calling thread."""
        return get_current_device()


def _cpu_as_gpu() -> Any:
    """Return the CPU, typed as a GPU: it has the attributes that programs read."""
    return CPU


gpus = Gpus()


def is_available() -> bool:
    """Return whether there is a GPU, or the environment selects the CPU in its place."""
    return driver.available() or bool(gpu_disabled_by())


def select_device(device_id: int) -> Gpu:
    """Set the GPU of the calling thread for launches, new arrays and streams, and return it.

    Without a GPU, 0 is the CPU.

    Parameters
    ----------
    device_id : int
        The number of the GPU; without a GPU, 0 is the CPU.

    Returns
    -------
    Gpu
        The GPU.

    Raises
    ------
    IndexError
        If there is no GPU with this number.
    NoDeviceError
        If there is no GPU.
    """
    if not driver.available() and operator.index(device_id) == 0:
        return get_current_device()
    gpu = gpus[device_id]
    select(gpu.id)
    return gpu


def get_current_device() -> Gpu:
    """Return the current GPU of the calling thread; by default the first one, or the CPU."""
    return Gpu(driver.device()) if driver.available() else _cpu_as_gpu()


def list_devices() -> Gpus:
    """Return all GPUs."""
    return gpus


def can_access_peer(device: int, peer: int) -> bool:
    """Return whether the hardware lets kernels of a GPU access the memory of another.

    Parameters
    ----------
    device, peer : int
        The numbers of the GPUs.
    """
    return gpus[device].can_access_peer(peer)


def ordinal_of(device: DeviceLike) -> int:
    """Return the ordinal for new arrays, or ``memory.HOST``."""
    if device == "cpu":
        return HOST
    if device is None:
        return driver.current_ordinal() if driver.available() else HOST
    ordinal = check_ordinal(device)
    return ordinal if driver.available() else HOST

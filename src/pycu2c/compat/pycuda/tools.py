"""Implement ``pycuda.tools``: default contexts, occupancy, memoization per context."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from pycu2c.compat.pycuda.contexts import Context, Device
from pycu2c.compat.pycuda.enums import device_attribute
from pycu2c.compat.pycuda.errors import Error, RuntimeError
from pycu2c.compat.pycuda.memory.host_memory import pagelocked_empty

P = ParamSpec("P")
R = TypeVar("R")


class PageLockedAllocator:
    """Allocates arrays of page-locked memory."""

    def __init__(self, flags: int = 0) -> None:
        self.flags = flags

    def allocate(self, shape: Any, dtype: Any, order: str = "C") -> Any:
        """Return a new array."""
        return pagelocked_empty(shape, dtype, order, self.flags)


def bitlog2(value: int) -> int:
    """Return the position of the highest bit."""
    return value.bit_length() - 1


# ---- devices -----------------------------------------------------------------------------------


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """Create a context on the default device.

    It is the device that CUDA_DEVICE or the file ~/.cuda_device names, or the first usable one.

    Returns
    -------
    Context
        The context, which is current.

    Raises
    ------
    RuntimeError
        If no device is usable.
    """
    make_context = ctx_maker or Device.make_context
    selected = _device_from_environment()
    if selected is not None:
        return make_context(Device(selected))
    for ordinal in range(Device.count()):
        try:
            return make_context(Device(ordinal))
        except Error:
            continue
    raise RuntimeError(
        f"make_default_context() wasn't able to create a context on any of the {Device.count()} "
        "detected devices"
    )


def _device_from_environment() -> int | None:
    """Return the device of CUDA_DEVICE or ~/.cuda_device; None if neither exists."""
    text = os.environ.get("CUDA_DEVICE")
    if text is None:
        try:
            with open(os.path.expanduser("~/.cuda_device")) as file:
                text = file.read().strip()
        except OSError:
            return None
    try:
        return int(text)
    except ValueError:
        raise TypeError(
            f"CUDA device number (CUDA_DEVICE or ~/.cuda_device) must be an integer, not {text!r}"
        ) from None


def get_default_device(default: int = 0) -> Device:
    """Return the device that CUDA_DEVICE or ~/.cuda_device names, or else the default."""
    selected = _device_from_environment()
    return Device(default if selected is None else selected)


class DeviceData:
    """Device limits that determine the occupancy of kernels."""

    def __init__(self, dev: Device | None = None) -> None:
        device = dev or Context.get_device()
        attribute_of = device.get_attribute
        self.max_threads = attribute_of(device_attribute.MAX_THREADS_PER_BLOCK)
        self.warp_size = attribute_of(device_attribute.WARP_SIZE)
        self.registers = attribute_of(device_attribute.MAX_REGISTERS_PER_BLOCK)
        self.shared_memory = attribute_of(device_attribute.MAX_SHARED_MEMORY_PER_BLOCK)
        threads_per_mp = attribute_of(device_attribute.MAX_THREADS_PER_MULTIPROCESSOR)
        self.warps_per_mp = threads_per_mp // self.warp_size
        self.thread_blocks_per_mp = 32
        self.smem_alloc_granularity, self.smem_granularity = 128, 32
        self.register_allocation_unit = "warp"


class OccupancyRecord:
    """The resident blocks of a kernel per multiprocessor, and the limiting resource.

    Raises
    ------
    ValueError
        If a block exceeds a limit.
    """

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        if threads > devdata.max_threads:
            raise ValueError("too many threads")
        warps = -(-threads // devdata.warp_size)
        shared = -(-shared_mem // devdata.smem_alloc_granularity) * devdata.smem_alloc_granularity
        block_registers = warps * devdata.warp_size * registers
        if block_registers > devdata.registers:
            raise ValueError("too many registers")
        if shared > devdata.shared_memory:
            raise ValueError("too much smem")
        limits = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // warps, "warps"),
        ]
        if registers:
            limits.append((devdata.registers // block_registers, "regs"))
        if shared:
            limits.append((devdata.shared_memory // shared, "smem"))
        self.tb_per_mp_limits = limits
        self.tb_per_mp, self.limited_by = min(limits)
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp


# ---- memoization -------------------------------------------------------------------------------

_CACHES: list[dict[Any, Any]] = []


def context_dependent_memoize(func: Callable[P, R]) -> Callable[P, R]:
    """Return a function that caches its results for each context."""
    cache: dict[Any, R] = {}
    _CACHES.append(cache)

    @functools.wraps(func)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (Context.get_device(), args, frozenset(kwargs.items()))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return wrapper


def clear_context_caches() -> None:
    """Clear the results of memoized functions."""
    for cache in _CACHES:
        cache.clear()


def init_cuda_context_fixture() -> Iterator[None]:
    """Create a context, and detach it at the end, for a fixture of pytest: ``yield from`` this.

    Yields
    ------
    None
        Nothing.
    """
    context = make_default_context()
    try:
        yield
    finally:
        context.detach()
        clear_context_caches()
        gc.collect()


def mark_cuda_test(inner_f: Callable[P, R]) -> Callable[P, R]:
    """Return a test that runs in its own context."""

    @functools.wraps(inner_f)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with contextlib.contextmanager(init_cuda_context_fixture)():
            return inner_f(*args, **kwargs)

    return wrapper

"""Implement ``pycuda.tools``: default contexts, limits of devices, memoization per context."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from pycu2c.compat.pycuda.contexts import Context, Device
from pycu2c.compat.pycuda.enums import device_attribute
from pycu2c.compat.pycuda.errors import Error, RuntimeError

P = ParamSpec("P")
R = TypeVar("R")


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

"""A GPU's memory: from the driver's pool, and back, in the order of the default stream.

Two calls of the driver for an array cost more than a launch. So small blocks that are freed stay
here for the next arrays of the same size, as long as the program uses the default stream alone:
there the order of its work is the order of its calls, whoever has the block. With other streams
each block goes back to the driver, which lets them wait for one another.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
from typing import Any

from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import error_for

_MAX_CACHED_BYTES = 4 << 20  # bytes in blocks of one size
_MAX_SIZES = 64
_FIRST_BLOCKS = 16  # small blocks


@functools.cache
def _has_pools(ordinal: int) -> bool:
    bindings, device = driver.api(), driver.devices()[ordinal]
    which = bindings.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
    answer = bindings.cuDeviceGetAttribute(which, device.handle)
    return bool(driver.check(answer, "ask for memory pools"))


@functools.cache
def pool_of(ordinal: int) -> Any:
    """The device's pool, set to keep what is freed; None where the driver has no pools."""
    if not _has_pools(ordinal):
        return None
    bindings, device = driver.api(), driver.devices()[ordinal]
    pool = driver.check(bindings.cuDeviceGetDefaultMemPool(device.handle), "open the memory pool")
    cache_block = bindings.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    if not int(
        driver.check(bindings.cuMemPoolGetAttribute(pool, cache_block), "read the memory pool")
    ):
        everything = bindings.cuuint64_t((1 << 64) - 1)
        driver.check(
            bindings.cuMemPoolSetAttribute(pool, cache_block, everything), "set the memory pool"
        )
    return pool


class _ThreadState(threading.local):
    """Whether a thread has had a context. A call without one is an error to who looks on."""

    has_context = False


class _PoolFunctions:
    """The driver's functions, looked up once.

    For a process's first block of a pool the driver takes 10 ms, and what a first kernel needs is
    little: that comes from elsewhere. The driver frees it in the order of a stream all the same.
    """

    __slots__ = ("_alone", "_left", "_ordinal", "_pooled", "allocate", "clear", "free", "thread")

    def __init__(self, ordinal: int) -> None:
        bindings = driver.api()
        self._ordinal, self.thread = ordinal, _ThreadState()
        self._alone: Any = lambda size, stream: bindings.cuMemAlloc(size)
        self._pooled, self._left = bindings.cuMemAllocAsync, _FIRST_BLOCKS
        self.clear: Any = lambda address: bindings.cuMemsetD8Async(address, 0, 1, 0)
        if _has_pools(ordinal):
            self.allocate: Any = self._first
            self.free: Any = bindings.cuMemFreeAsync
        else:
            self.allocate = self._alone
            self.free = lambda address, stream: bindings.cuMemFree(address)  # waits

    def _first(self, size: int, stream: int) -> Any:
        self._left -= 1
        if (
            self._left >= 0 and size <= _MAX_CACHED_BYTES and not driver.has_multiple_devices()
        ):  # peers share pools
            return self._alone(size, stream)
        pool_of(self._ordinal)
        self.allocate = self._pooled
        return self.allocate(size, stream)


_calls_on = functools.cache(_PoolFunctions)


def _pool_functions() -> _PoolFunctions:
    return _calls_on(driver.current_ordinal())


# ---- blocks ------------------------------------------------------------------------------------


class BlockCache(dict[tuple[int, int], list[int]]):
    """Addresses of blocks that nobody uses, by device and size. Where the environment has
    PYCU2C_KEEP_MEMORY=0 there are none, so that tools see each array made and freed."""

    def __init__(self) -> None:
        self.keeps = os.environ.get("PYCU2C_KEEP_MEMORY", "1") != "0"

    def take(self, ordinal: int, size: int) -> int:
        """The address of a block, or 0."""
        there = self.get((ordinal, size))
        try:
            return there.pop() if there else 0
        except IndexError:  # another thread has been faster
            return 0

    def put(self, ordinal: int, size: int, address: int) -> bool:
        """Keep a block, if it is to be."""
        if not self.keeps or driver.uses_streams():
            return False
        there = self.get((ordinal, size))
        if there is None:
            if size > _MAX_CACHED_BYTES or len(self) >= _MAX_SIZES:
                return False
            there = self.setdefault((ordinal, size), [])
        if (len(there) + 1) * size > _MAX_CACHED_BYTES:
            return False
        there.append(address)
        return True


_cache = BlockCache()


def caches_blocks() -> bool:
    return _cache.keeps


def round_up_to_even(size: int) -> int:
    """An even number of bytes: an atomic on a byte exchanges it together with its neighbour."""
    return size + size % 2


def allocate(size: int) -> int:
    """The address of new memory on the device that the thread is on, whose context it has then:
    what is done with the memory needs one, too."""
    thread = _pool_functions().thread
    if not thread.has_context:
        driver.make_current()
        thread.has_context = True
    kept = _cache.take(driver.current_ordinal(), round_up_to_even(size))
    return kept or _allocate(size)


def _allocate(size: int) -> int:
    calls = _pool_functions()
    code, pointer = calls.allocate(round_up_to_even(size), 0)
    if code:
        pointer = _retry_allocation(code, round_up_to_even(size))
    if size % 2:  # initcheck of compute-sanitizer would find what an atomic reads there
        driver.check(calls.clear(int(pointer) + size), "clear the byte after an array")
    return int(pointer)


def _retry_allocation(code: Any, size: int) -> Any:
    """In a thread that has lost its context; or once others give back what they do not use."""
    if code.name == "CUDA_ERROR_INVALID_CONTEXT":
        driver.make_current()
    elif code.name == "CUDA_ERROR_OUT_OF_MEMORY":
        trim()
    else:
        driver.check((code,), f"allocate {size} bytes on the device")
    code, pointer = _pool_functions().allocate(size, 0)
    if code and code.name == "CUDA_ERROR_OUT_OF_MEMORY":
        free, total = free_and_total()
        text = f"{free} of the device's {total} bytes are free"
        raise error_for(code.name, text, f"allocate {size} bytes on the device")
    driver.check((code,), f"allocate {size} bytes on the device")
    return pointer


def trim() -> None:
    """Return what nobody uses to the driver: other processes, and other pools, can have it."""
    gc.collect()
    driver.make_current()
    bindings = driver.api()
    driver.check(bindings.cuCtxSynchronize(), "wait for the device")
    for ordinal, size in list(_cache):
        if ordinal == driver.current_ordinal():
            for address in _cache.pop((ordinal, size), []):
                _free_on_device(address, None)
    pool = pool_of(driver.current_ordinal())
    if pool is not None:
        driver.check(bindings.cuMemPoolTrimTo(pool, 0), "shrink the memory pool")


def free_and_total() -> tuple[int, int]:
    """Bytes of the device that are free, and all of them."""
    driver.make_current()
    code, free, total = driver.api().cuMemGetInfo()
    driver.check((code,), "ask how much memory is free")
    return int(free), int(total)


def cache_block(address: int, size: int, ordinal: int) -> bool:
    """Have a block for the next array of its size, if it is to be kept."""
    return _cache.put(ordinal, round_up_to_even(size), address)


def free(address: int, streams: set[object] | None, ordinal: int) -> None:
    """``streams``: those, beside the default one, that have used the memory. Never raises: after
    a kernel has failed every call fails, and nobody could be told."""
    try:
        with driver.on_device(ordinal):
            _free_on_device(address, streams)
    except Exception:  # of a driver that is gone
        return


def _free_on_device(address: int, streams: set[object] | None) -> None:
    if streams:
        driver.make_current()
        for stream in streams:
            _after(stream)
    calls = _pool_functions()
    if not calls.thread.has_context:
        driver.make_current()
        calls.thread.has_context = True
    (code,) = calls.free(address, 0)
    if code and code.name == "CUDA_ERROR_INVALID_CONTEXT":
        driver.make_current()
        calls.free(address, 0)


def _after(stream: object) -> None:
    """Let the default stream wait for a stream; for the device if it is only a number, whose
    stream may have gone."""
    if isinstance(stream, int):
        driver.check(driver.api().cuCtxSynchronize(), "wait for the device")
    else:
        driver.order_after(driver.stream_of(stream), 0)

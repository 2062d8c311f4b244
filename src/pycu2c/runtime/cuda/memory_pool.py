"""Allocate and free device memory in the driver's pool, in the order of the default stream.

Two driver calls for an array cost more than a launch. Freed small blocks are therefore cached for
arrays of the same size, while the program uses the default stream only. Then the order of the calls
is the order of the work. With other streams each block is returned to the driver, which orders its
reuse.
"""

from __future__ import annotations

import functools
import gc
import threading
from typing import Any

from pycu2c.base.errors import environment_switch
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import error_for

_MAX_CACHED_BYTES = 4 << 20  # in blocks of one size
_MAX_SIZES = 64
_UNPOOLED_BLOCKS = 16  # small blocks that are not from the pool


@functools.cache
def _has_pools(ordinal: int) -> bool:
    attribute = driver.api().CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
    device, doing = driver.devices()[ordinal].handle, "query support of memory pools"
    return bool(driver.call("cuDeviceGetAttribute", attribute, device, doing=doing))


@functools.cache
def pool_of(ordinal: int) -> Any:
    """Return the device's pool, which keeps freed memory; None if the driver has no pools."""
    if not _has_pools(ordinal):
        return None
    bindings, device = driver.api(), driver.devices()[ordinal].handle
    pool = driver.call("cuDeviceGetDefaultMemPool", device, doing="open the memory pool")
    threshold = bindings.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    if not int(driver.call("cuMemPoolGetAttribute", pool, threshold, doing="read the memory pool")):
        unlimited = bindings.cuuint64_t((1 << 64) - 1)
        doing = "set the memory pool"
        driver.call("cuMemPoolSetAttribute", pool, threshold, unlimited, doing=doing)
    return pool


class _ThreadState(threading.local):
    """Whether a thread has had a context, so that no call fails for lack of one.

    compute-sanitizer would report the failed call.
    """

    has_context = False


class _PoolFunctions:
    """The driver's functions for allocations.

    The first allocation from a pool takes 10 ms, so the first small blocks are allocated outside
    the pool. The driver can free them in stream order, too.
    """

    def __init__(self, ordinal: int) -> None:
        bindings = driver.api()
        self._ordinal, self.thread = ordinal, _ThreadState()
        self._unpooled: Any = lambda size, stream: bindings.cuMemAlloc(size)
        self._pooled, self._unpooled_left = bindings.cuMemAllocAsync, _UNPOOLED_BLOCKS
        self.clear: Any = lambda address: bindings.cuMemsetD8Async(address, 0, 1, 0)
        if _has_pools(ordinal):
            self.allocate: Any = self._allocate_first
            self.free: Any = bindings.cuMemFreeAsync
        else:
            self.allocate = self._unpooled
            self.free = lambda address, stream: bindings.cuMemFree(address)  # waits

    def _allocate_first(self, size: int, stream: int) -> Any:
        self._unpooled_left -= 1
        is_small = self._unpooled_left >= 0 and size <= _MAX_CACHED_BYTES
        if is_small and not driver.has_multiple_devices():  # peers access only pools
            return self._unpooled(size, stream)
        pool_of(self._ordinal)
        self.allocate = self._pooled
        return self.allocate(size, stream)


_functions_of = functools.cache(_PoolFunctions)


def _pool_functions() -> _PoolFunctions:
    return _functions_of(driver.current_ordinal())


# ---- blocks ------------------------------------------------------------------------------------


class BlockCache(dict[tuple[int, int], list[int]]):
    """Addresses of free blocks, by device and size.

    PYCU2C_KEEP_MEMORY=0 disables the cache, so that tools see each allocation.
    """

    def __init__(self) -> None:
        self.is_enabled = environment_switch("PYCU2C_KEEP_MEMORY", default=True)

    def take(self, ordinal: int, size: int) -> int:
        """Return the address of a block, or 0."""
        blocks = self.get((ordinal, size))
        try:
            return blocks.pop() if blocks else 0
        except IndexError:  # another thread has removed it
            return 0

    def put(self, ordinal: int, size: int, address: int) -> bool:
        """Add a block; return False if it must be freed."""
        if not self.is_enabled or driver.uses_streams():
            return False
        blocks = self.get((ordinal, size))
        if blocks is None:
            if size > _MAX_CACHED_BYTES or len(self) >= _MAX_SIZES:
                return False
            blocks = self.setdefault((ordinal, size), [])
        if (len(blocks) + 1) * size > _MAX_CACHED_BYTES:
            return False
        blocks.append(address)
        return True


_cache = BlockCache()


def caches_blocks() -> bool:
    """Return whether freed blocks are cached."""
    return _cache.is_enabled


def round_up_to_even(size: int) -> int:
    """Round up, because an atomic on a byte accesses its neighbor as well."""
    return size + size % 2


def allocate(size: int) -> int:
    """Allocate memory on the current device, and set a context for the code that uses it."""
    thread = _pool_functions().thread
    if not thread.has_context:
        driver.make_current()
        thread.has_context = True
    cached = _cache.take(driver.current_ordinal(), round_up_to_even(size))
    return cached or _allocate(size)


def _allocate(size: int) -> int:
    functions = _pool_functions()
    code, pointer = functions.allocate(round_up_to_even(size), 0)
    if code:
        pointer = _retry_allocation(code, round_up_to_even(size))
    if size % 2:  # compute-sanitizer's initcheck would report reads by atomics
        driver.check(functions.clear(int(pointer) + size), "clear the byte after an array")
    return int(pointer)


def _retry_allocation(code: Any, size: int) -> Any:
    """Retry an allocation, after setting a context or after freeing unused memory."""
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
    """Return unused memory to the driver, for other processes and pools."""
    gc.collect()
    driver.make_current()
    driver.synchronize_device()
    for ordinal, size in list(_cache):
        if ordinal == driver.current_ordinal():
            for address in _cache.pop((ordinal, size), []):
                _free_on_device(address, None)
    pool = pool_of(driver.current_ordinal())
    if pool is not None:
        driver.call("cuMemPoolTrimTo", pool, 0, doing="shrink the memory pool")


def free_and_total() -> tuple[int, int]:
    """Return the free and the total bytes of the device."""
    driver.make_current()
    code, free, total = driver.api().cuMemGetInfo()
    driver.check((code,), "read how much memory is free")
    return int(free), int(total)


def cache_block(address: int, size: int, ordinal: int) -> bool:
    """Cache a freed block; return False if it must be freed."""
    return _cache.put(ordinal, round_up_to_even(size), address)


def free(address: int, streams: set[object] | None, ordinal: int) -> None:
    """Free memory; ``streams``: those that have used it, besides the default stream.

    Never raises: all calls fail after a kernel fault, and finalizers cannot report errors.
    """
    try:
        with driver.on_device(ordinal):
            _free_on_device(address, streams)
    except Exception:  # the driver is unloaded
        return


def _free_on_device(address: int, streams: set[object] | None) -> None:
    if streams:
        driver.make_current()
        for stream in streams:
            order_default_stream_after(stream)
    functions = _pool_functions()
    if not functions.thread.has_context:
        driver.make_current()
        functions.thread.has_context = True
    (code,) = functions.free(address, 0)
    if code and code.name == "CUDA_ERROR_INVALID_CONTEXT":
        driver.make_current()
        functions.free(address, 0)


def order_default_stream_after(stream: object) -> None:
    """Order the default stream after a stream.

    Synchronize the device if the stream is only a handle, because it may have been destroyed.
    """
    if isinstance(stream, int):
        driver.synchronize_device()
    else:
        driver.order_after(driver.stream_of(stream), 0)

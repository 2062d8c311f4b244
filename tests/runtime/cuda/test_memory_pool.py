"""Freed blocks of GPU memory are cached for arrays of the same size. Needs no GPU."""

from __future__ import annotations

import functools
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from pycu2c.cuda_driver import driver
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory import DeviceMemory


class Driver:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.made = 0
        self.freed: list[int] = []
        self.thread = SimpleNamespace(has_context=True)

    def allocate(self, size: int, stream: int) -> tuple[int, int]:
        self.made += 1
        return 0, 4096 * self.made

    def free(self, address: int, stream: int) -> tuple[int]:
        self.freed.append(address)
        return (0,)

    def clear(self, address: int) -> tuple[int]:
        return (0,)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Driver:
    result = Driver()
    monkeypatch.setattr(memory_pool, "_pool_functions", lambda: result)
    monkeypatch.setattr(memory_pool, "_cache", memory_pool.BlockCache())
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: False)
    monkeypatch.setattr(driver, "current_ordinal", lambda: 0)
    monkeypatch.setattr(driver, "_STREAM_WAS_USED", threading.Event())
    monkeypatch.delenv("PYCU2C_KEEP_MEMORY", raising=False)
    return result


def made_and_freed(*sizes: int) -> list[int]:
    return [DeviceMemory(size).address for size in sizes]


def test_a_freed_block_is_reused_for_its_size(calls: Driver) -> None:
    assert made_and_freed(100, 100, 200, 100, 199) == [4096, 4096, 8192, 4096, 8192]
    assert calls.freed == []


def test_a_thread_that_takes_a_block_has_a_context(
    calls: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[bool] = []
    monkeypatch.setattr(driver, "make_current", lambda: entered.append(True))
    made_and_freed(100)
    assert entered == []
    calls.thread.has_context = False  # as in another thread
    assert made_and_freed(100, 100) == [4096, 4096]
    assert entered == [True]


def test_arrays_at_the_same_time_have_memory_of_their_own(calls: Driver) -> None:
    both = [DeviceMemory(100), DeviceMemory(100)]
    assert [memory.address for memory in both] == [4096, 8192]
    del both
    assert sorted(memory.address for memory in [DeviceMemory(100), DeviceMemory(100)]) == [
        4096,
        8192,
    ]


def test_large_blocks_are_freed(calls: Driver) -> None:
    assert made_and_freed(5 << 20) == calls.freed
    several = [DeviceMemory(3 << 20) for _ in range(2)]
    del several
    assert len(calls.freed) == 2  # one of them stays


def test_only_so_many_sizes_stay(calls: Driver) -> None:
    made_and_freed(*range(2, 202, 2))
    assert len(calls.freed) == 36


@pytest.mark.parametrize("stream", [2, 4096, SimpleNamespace(__cuda_stream__=lambda: (0, 4096))])
def test_blocks_used_on_streams_are_freed(calls: Driver, stream: Any) -> None:
    driver.stream_of(stream)
    assert made_and_freed(100, 100) == [4096, 8192] == calls.freed


def test_the_default_stream_is_not_recorded(calls: Driver) -> None:
    for stream in (0, 1, None):
        driver.stream_of(stream)
    assert made_and_freed(100, 100) == [4096, 4096]


def test_borrowed_blocks_are_returned(calls: Driver) -> None:
    memory = DeviceMemory(100)
    memory.mark_exported()
    del memory
    assert calls.freed == [4096]


def test_the_environment_says_that_nothing_stays(
    calls: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_KEEP_MEMORY", "0")
    monkeypatch.setattr(memory_pool, "_cache", memory_pool.BlockCache())
    assert made_and_freed(100, 100) == calls.freed


def test_cached_memory_is_freed_on_demand(calls: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    made_and_freed(100, 200)
    monkeypatch.setattr(driver, "make_current", lambda: None)
    monkeypatch.setattr(memory_pool, "gc", SimpleNamespace(collect=int))  # real arrays stay
    monkeypatch.setattr(driver, "api", lambda: SimpleNamespace(cuCtxSynchronize=lambda: (0,)))
    monkeypatch.setattr(driver, "check", lambda *_: None)
    monkeypatch.setattr(memory_pool, "pool_of", lambda _: None)
    memory_pool.trim()
    assert calls.freed == [4096, 8192]
    assert made_and_freed(100) == [3 * 4096]


class Bindings(SimpleNamespace):
    """Of a device with pools, or without: notes which function has given or taken a block."""

    def __init__(self, has_pools: bool) -> None:
        self.asked: list[str] = []
        attribute = SimpleNamespace(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED=1)
        super().__init__(
            CUdevice_attribute=attribute,
            cuDeviceGetAttribute=lambda *_: (0, int(has_pools)),
            CUmemPool_attribute=SimpleNamespace(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD=1),
            cuDeviceGetDefaultMemPool=lambda _: (0, "pool"),
            cuMemPoolGetAttribute=lambda *_: (0, 1),
        )
        for name in ("cuMemAlloc", "cuMemAllocAsync", "cuMemFree", "cuMemFreeAsync"):
            setattr(self, name, functools.partial(self._note, name))

    def _note(self, name: str, *_: object) -> tuple[int, int]:
        self.asked.append(name)
        return 0, 4096


@pytest.fixture
def bindings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Bindings:
    result = Bindings(request.param)
    monkeypatch.setattr(driver, "api", lambda: result)
    monkeypatch.setattr(driver, "devices", lambda: [SimpleNamespace(handle=0)])
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: False)
    for name in ("_has_pools", "pool_of"):
        unknown = functools.cache(getattr(memory_pool, name).__wrapped__)
        monkeypatch.setattr(memory_pool, name, unknown)
    return result


@pytest.mark.parametrize("bindings", [True], indirect=True)
def test_the_first_small_blocks_do_without_the_pool(bindings: Bindings) -> None:
    calls = memory_pool._PoolFunctions(0)
    for _ in range(18):
        calls.allocate(100, 0)
    assert bindings.asked == ["cuMemAlloc"] * 16 + ["cuMemAllocAsync"] * 2
    calls.free(4096, 0)
    assert bindings.asked[-1] == "cuMemFreeAsync"


@pytest.mark.parametrize("bindings", [True], indirect=True)
def test_a_large_block_opens_the_pool(bindings: Bindings) -> None:
    calls = memory_pool._PoolFunctions(0)
    for size in (100, 5 << 20, 100):
        calls.allocate(size, 0)
    assert bindings.asked == ["cuMemAlloc", "cuMemAllocAsync", "cuMemAllocAsync"]


@pytest.mark.parametrize("bindings", [True], indirect=True)
def test_several_devices_share_pools_from_the_start(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: True)
    memory_pool._PoolFunctions(0).allocate(100, 0)
    assert bindings.asked == ["cuMemAllocAsync"]


@pytest.mark.parametrize("bindings", [False], indirect=True)
def test_a_driver_without_pools(bindings: Bindings) -> None:
    calls = memory_pool._PoolFunctions(0)
    calls.allocate(100, 0)
    calls.free(4096, 0)
    assert bindings.asked == ["cuMemAlloc", "cuMemFree"]

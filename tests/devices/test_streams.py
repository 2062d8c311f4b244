"""Streams and events, with a GPU and without."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, kernel
from pycu2c.cuda_driver import driver
from pycu2c.runtime.cuda.memory import DeviceMemory, ExternalMemory

pytestmark = pytest.mark.gpu(optional=True)


@kernel
def late(out, rounds):  # type: ignore[no-untyped-def]
    """Write 1 everywhere, after a while."""
    x = np.int32(1)
    for i in range(rounds):
        x = x * np.int32(1664525) + np.int32(i)
    j = cuda.grid(1)
    if j < len(out):
        out[j] = 1 if x != 0 or rounds < 1 else 2


ROUNDS = 20_000_000 if driver.available() else 10  # a fifth of a second on a GPU


def is_late(array: Any) -> bool:
    return array.copy_to_host().tolist() == [1.0] * array.size


STREAMS = {
    "new": cuda.stream,
    "apart": lambda: cuda.stream(blocking=False),
    "hasty": lambda: cuda.stream(priority=-1),
    "default": cuda.default_stream,
    "legacy": cuda.legacy_default_stream,
    "of the thread": cuda.per_thread_default_stream,
}


@pytest.mark.parametrize("name", STREAMS)
def test_launches_and_copies_in_a_stream(name: str) -> None:
    stream = STREAMS[name]()
    values = cuda.pinned_array(1000)
    values[...] = np.arange(1000)
    array = cuda.to_device(values, stream)
    late[8, 128, stream](array[:500], 10)
    out = array.copy_to_host(stream=stream)
    stream.synchronize()
    assert stream.done()
    assert out[:500].tolist() == [1.0] * 500
    assert out[500:].tolist() == list(range(500, 1000))
    assert late[8, 128, int(stream)](array, 1) is None


@pytest.mark.parametrize("name", STREAMS)
def test_operations_without_a_stream_wait_for_all_streams(name: str) -> None:
    array = cuda.to_device(np.zeros(100))
    stream = STREAMS[name]()
    late[1, 128, stream](array, ROUNDS)
    assert is_late(array)


def forgotten(memory: DeviceMemory, stream: object) -> None:
    """Instead of DeviceMemory.used_on."""


@pytest.mark.parametrize("name", STREAMS)
def test_memory_is_free_after_the_work_that_uses_it(name: str) -> None:
    """A kernel still writes to an array that is gone; whoever gets its memory is not disturbed."""
    assert is_undisturbed(name)


@pytest.mark.gpu
@pytest.mark.undisturbed
def test_the_test_of_streams_detects_a_missing_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above sees what it looks for."""
    monkeypatch.setattr(DeviceMemory, "used_on", forgotten)
    assert not is_undisturbed("apart")


def is_undisturbed(name: str) -> bool:
    stream, other = STREAMS[name](), cuda.stream()
    late[1, 128, stream](cuda.to_device(np.zeros(100)), 1)  # compiled
    array = cuda.to_device(np.zeros(1 << 15))
    late[1 << 8, 128, stream](array, ROUNDS)  # leaves processors free, for the writes below
    del array
    fresh = [cuda.device_array(1 << 15) for _ in range(3)]
    for new in fresh:
        new.setitem(..., 5, other)
    cuda.synchronize()
    return all(np.all(new.copy_to_host() == 5) for new in fresh)


def test_values_that_are_no_stream_or_event() -> None:
    with pytest.raises(LaunchError, match="takes an event or a stream, not the number 5"):
        cuda.stream().wait(5)
    with pytest.raises(LaunchError, match="takes the stream that is to wait, not the number 5"):
        cuda.event().wait(5)


def test_one_stream_waits_for_another() -> None:
    first, second = cuda.stream(blocking=False), cuda.stream(blocking=False)
    array, out = cuda.to_device(np.zeros(100)), cuda.pinned_array(100)
    cuda.synchronize()
    late[1, 128, first](array, ROUNDS)
    event = cuda.event(timing=False)
    event.record(first)
    second.wait(event)
    second.wait(first)
    memory = ExternalMemory(array, array.address, array.nbytes, array.device)  # knows no streams
    seen = cuda.DeviceArray(memory, array.address, array.shape, array.strides, array.dtype)
    seen.copy_to_host(out, second)
    second.synchronize()
    assert np.all(out == 1)


def test_with_a_stream_for_all_that_is_done_to_an_array() -> None:
    stream = cuda.stream()
    array = cuda.device_array(10, stream=stream)
    assert array.stream is stream
    assert array[2:].stream is stream
    other = cuda.to_device(np.zeros(10)).bind(stream)
    other[...] = 3
    array[...] = other
    with stream.auto_synchronize():
        out = array.copy_to_host()
    assert out.tolist() == [3.0] * 10


@pytest.mark.undisturbed
def test_events_tell_the_time() -> None:
    start, end = cuda.event(), cuda.event()
    with pytest.raises(ValueError, match="was not recorded"):
        start.elapsed_time(end)
    array = cuda.to_device(np.zeros(100))
    late[1, 128](array, 1)
    began = time.perf_counter()
    start.record()
    late[1, 128](array, ROUNDS)
    if not driver.available():
        time.sleep(0.01)
    end.record()
    end.synchronize()
    seen = 1e3 * (time.perf_counter() - began)
    assert end.query()
    raised = cuda.event_elapsed_time(start, end)
    assert 5 < raised < 1.001 * seen  # the host's clock and the GPU's differ
    with pytest.raises(ValueError, match="timing=False"):
        start.elapsed_time(cuda.event(timing=False))


def test_callbacks() -> None:
    stream, raised = cuda.stream(), []
    array = cuda.to_device(np.zeros(100))
    late[1, 128, stream](array, 1)
    stream.add_callback(lambda *arguments: raised.append(arguments), 7)
    stream.synchronize()
    deadline = time.monotonic() + 60
    while not raised and time.monotonic() < deadline:
        time.sleep(0.001)
    assert raised == [(stream, 0, 7)]

    async def wait() -> Any:
        return await stream.async_done()

    assert asyncio.run(wait()) is stream


def test_streams_of_others() -> None:
    own = cuda.stream()
    for arguments in (own, int(own), own.handle):
        stream = cuda.external_stream(arguments)
        assert stream.handle == own.handle
        assert stream.__cuda_stream__() == (0, own.handle)
    with pytest.raises(LaunchError, match="a stream is an int"):
        cuda.external_stream("stream")
    assert repr(cuda.default_stream()) == "<stream default>"


@pytest.mark.parametrize(
    "use",
    [
        lambda: cuda.to_device(np.zeros(2), "side"),
        lambda: cuda.device_array(2, stream="side"),
        lambda: cuda.stream().wait("side"),
        lambda: cuda.event().wait("side"),
        lambda: cuda.event().record("side"),
    ],
)
def test_values_that_are_no_stream_are_rejected_without_a_gpu(use: Callable[[], object]) -> None:
    with pytest.raises(LaunchError, match="a stream is an int, None, or a stream object"):
        use()


def test_profiling_is_off_by_default() -> None:
    with cuda.profiling():
        late[1, 128](cuda.to_device(np.zeros(4)), 1)
    cuda.profile_start()
    cuda.profile_stop()


@pytest.mark.gpu
def test_completion_is_queried_without_waiting() -> None:
    stream, array = cuda.stream(), cuda.to_device(np.zeros(100))
    late[1, 128, stream](array, 1)
    stream.synchronize()
    event = cuda.event()
    late[1, 128, stream](array, ROUNDS)
    event.record(stream)
    assert not stream.done()
    assert not event.query()
    stream.synchronize()
    assert stream.done()
    assert event.query()

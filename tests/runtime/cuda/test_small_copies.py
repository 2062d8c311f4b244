"""Host arrays of a launch: one copy in each direction. The driver is simulated in host memory."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import numpy as np
import pytest

from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.types import WEAK_INT, Array, Signature
from pycu2c.native._dispatch import LaunchConfiguration, StagingBuffer
from pycu2c.runtime.arguments.arguments import describe, layout_of
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch.guards import RecordedLaunch
from pycu2c.runtime.dispatch.table import DispatchTable, LaunchGuard
from pycu2c.runtime.runner import FastPathLaunch
from runtime.cuda.test_dispatch_without_device import CURRENT, SUBMIT
from support.launching import leaks

SIZE, CONTEXT, STREAM = 4096, 0xC0DE, 7
SIGNATURE = Signature(())
INTO = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2, ctypes.c_size_t, ctypes.c_void_p)
WAIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Device:
    """Its kernel is ``out[:] += a`` for arrays of float32 of so many bytes. ``codes``: what it
    answers, ``asked``: what it was asked."""

    def __init__(self) -> None:
        self.memory, self.host = (ctypes.create_string_buffer(SIZE) for _ in range(2))
        self.codes, self.asked = dict[str, int](), list[tuple[Any, ...]]()
        self._functions: dict[str, Any] = {
            "submit": SUBMIT(self._submit),
            "current": CURRENT(self._current),
            "in": INTO(lambda *arguments: self._copy("in", *arguments)),
            "out": INTO(lambda *arguments: self._copy("out", *arguments)),
            "wait": WAIT(lambda stream: self._answer("wait", stream)),
        }
        self.at = {
            k: ctypes.cast(f, ctypes.c_void_p).value or 0 for k, f in self._functions.items()
        }
        memories = ctypes.addressof(self.memory), ctypes.addressof(self.host)
        calls = self.at["in"], self.at["out"], self.at["wait"]
        self.staging = StagingBuffer(None, SIZE, *memories, *calls)

    def _answer(self, what: str, *words: Any) -> int:
        self.asked.append((what, *words))
        return self.codes.get(what, 0)

    def _copy(self, what: str, to: int, source: int, count: int, stream: int) -> int:
        ctypes.memmove(to, source, count)
        return self._answer(what, count, stream)

    def _submit(self, kernel: int, *rest: Any) -> int:
        *_, stream, _, extra = rest
        out, length, a = struct.unpack("@3q", ctypes.string_at(extra[1], 24))
        begin = ctypes.addressof(self.memory)
        assert begin <= min(out, a) <= max(out, a) < begin + SIZE
        kind = ctypes.c_float * length
        result = np.frombuffer(kind.from_address(out), np.float32)
        result += np.frombuffer(kind.from_address(a), np.float32)
        return self._answer("submit", stream)

    def _current(self, to: Any) -> int:
        to[0] = CONTEXT
        return 0


class Tool:
    def __init__(self, *, has_room: bool = True) -> None:
        self.table = DispatchTable(CallSignature("added", ("out", "a"), 2, None, {}))
        self.device, self.codes = Device(), list[int]()
        self._staging = self.device.staging if has_room else None

    def learn(self, out: Any, a: Any, *, written: frozenset[int] = frozenset({0})) -> bool:
        described = describe(out), describe(a)
        kind = Array(describe(np.zeros(1, np.float32)).dtype, 1)  # type: ignore[union-attr]
        parameters = [
            Parameter("out", kind, 0, ArgumentPart.DATA),
            Parameter("n", WEAK_INT, 0, ArgumentPart.SHAPE, 0),
            Parameter("a", kind, 1, ArgumentPart.DATA),
        ]
        at = self.device.at
        fast_path = FastPathLaunch(
            layout_of(parameters),
            at["submit"],
            0xFEED,
            lambda code, head: self.codes.append(code),
            (at["current"], CONTEXT),
            lambda: self._staging,
        )
        types = tuple(d.type for d in described if d)
        launch = RecordedLaunch((out, a), types, described, written, {})  # type: ignore[arg-type]
        return self.table.record(launch, LaunchGuard(None, 0), fast_path, SIGNATURE)

    def runs(self, out: Any, a: Any) -> bool:
        configuration = LaunchConfiguration((1, 1, 1), (32, 1, 1), 0, STREAM, STREAM, True)
        return self.table.launch(configuration, (out, a))


def ones(count: int) -> np.ndarray[Any, Any]:
    return np.ones(count, np.float32)


@pytest.fixture
def tool() -> Tool:
    made = Tool()
    assert made.learn(ones(5), ones(5))
    return made


def test_one_copy_in_each_direction(tool: Tool) -> None:
    out, a = ones(100), np.arange(100, dtype=np.float32)
    assert tool.runs(out, a)
    assert out.tolist() == list(range(1, 101))
    assert a.tolist() == list(range(100))
    in_the_stream = [("in", 1024, STREAM), ("submit", STREAM), ("out", 400, STREAM)]
    assert tool.device.asked == [*in_the_stream, ("wait", STREAM)]
    assert tool.table.take_latest() is SIGNATURE


def test_other_lengths(tool: Tool) -> None:
    for count in (1, 64, 65, 512):
        out = ones(count)
        assert tool.runs(out, ones(count))
        assert out.tolist() == [2] * count


def test_an_array_that_is_given_twice_has_one_copy(tool: Tool) -> None:
    out = ones(10)
    assert tool.runs(out, out)
    assert out.tolist() == [2] * 10
    assert tool.device.asked[0] == ("in", 256, STREAM)


def test_more_than_the_staging_buffer_holds(tool: Tool) -> None:
    assert tool.runs(ones(512), ones(512))
    assert not tool.runs(ones(513), ones(512))
    assert not tool.runs(ones(5000), ones(5))


def test_arrays_with_other_memory_take_the_slow_path(tool: Tool) -> None:
    frozen = ones(5)
    frozen.flags.writeable = False
    views = ones(9)[:5], ones(10)[::2], ones(5)[::-1], np.frombuffer(bytes(20), np.float32)
    for view in views:
        assert not tool.runs(ones(5), view)
        assert not tool.runs(view, ones(5))
    assert not tool.runs(frozen, ones(5))
    assert tool.runs(ones(5), frozen)
    assert not tool.runs(ones(5), np.ones(5))
    assert len(tool.device.asked) == 4


def test_launches_that_are_not_cached() -> None:
    made = Tool()
    assert not made.learn(ones(9)[:5], ones(5))
    assert not made.learn(ones(10)[::2], ones(5))
    assert not Tool(has_room=False).learn(ones(5), ones(5))


def test_read_only_arrays_are_not_copied_back() -> None:
    made = Tool()
    assert made.learn(ones(5), ones(5), written=frozenset())
    out = ones(5)
    assert made.runs(out, ones(5))
    assert [what for what, *_ in made.device.asked] == ["in", "submit", "wait"]
    assert out.tolist() == [1] * 5


@pytest.mark.parametrize("what", ["in", "submit"])
def test_rejected_launches_take_the_slow_path(tool: Tool, what: str) -> None:
    out = ones(5)
    tool.device.codes = {what: 719}
    assert not tool.runs(out, ones(5))
    assert out.tolist() == [1] * 5
    tool.device.codes = {}
    assert tool.runs(out, ones(5))
    assert out.tolist() == [2] * 5


@pytest.mark.parametrize("what", ["out", "wait"])
def test_late_failures_are_reported(tool: Tool, what: str) -> None:
    out = ones(5)
    tool.device.codes = {what: 700}
    assert tool.runs(out, ones(5))  # it is not started again
    assert tool.codes == [700]
    assert out.tolist() == [1] * 5


def test_a_concurrent_launch_takes_the_slow_path(tool: Tool) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def answer(what: str, *words: Any) -> int:
        if what == "wait":
            begun.set()
            goes_on.wait(60)
        return 0

    tool.device._answer = answer  # type: ignore[method-assign]
    result: list[bool] = []
    other = threading.Thread(target=lambda: result.append(tool.runs(ones(5), ones(5))))
    other.start()
    assert begun.wait(60)
    assert not tool.runs(ones(5), ones(5))
    goes_on.set()
    other.join()
    assert result == [True]
    assert tool.runs(ones(5), ones(5))


def test_nothing_leaks(tool: Tool) -> None:
    def launch() -> None:
        tool.device.asked.clear()
        tool.runs(ones(100), ones(100))
        tool.runs(ones(100), ones(100)[:5])

    assert not leaks(launch, 3000, 50)

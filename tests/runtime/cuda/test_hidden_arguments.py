"""Launches on a device with hidden arguments: what is cleared before and copied after the kernel.

The driver is simulated in host memory.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from pycu2c.base import dtypes
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.types import WEAK_INT, Array, Scalar, Signature
from pycu2c.native._dispatch import LaunchConfiguration
from pycu2c.runtime.arguments.arguments import describe, layout_of
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch.guards import RecordedLaunch
from pycu2c.runtime.dispatch.table import DispatchTable, LaunchGuard
from pycu2c.runtime.runner import HAS_FINDINGS, FastPathLaunch, HiddenArguments
from runtime.cuda.test_dispatch_without_device import Own
from runtime.cuda.test_small_copies import CONTEXT, STREAM, Device, ones

MEMSET = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p
)


class CheckedDevice(Device):
    """Its kernel also gets the address of words: whether it finds something, and two shadows."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.found = np.zeros(3, np.int64), np.full(1, 5)
        self.finds, self.shadows = False, list[list[int]]()
        self.nested: Any = None
        self._memset = MEMSET(self._clear)
        self.at["memset"] = ctypes.cast(self._memset, ctypes.c_void_p).value or 0

    def _clear(self, to: int, value: int, count: int, stream: int) -> int:
        ctypes.memset(to, value, 4 * count)
        return self._answer("memset", count, stream)

    def _submit(self, kernel: int, *rest: Any) -> int:
        *_, stream, _, extra = rest
        (address,) = struct.unpack_from("@q", ctypes.string_at(extra[1], 32), 24)
        assert address == self.words.ctypes.data
        self.shadows.append(self.words[1:].tolist())
        self.words[:] = self.finds, 7, 7
        if self.nested:
            self.nested()
        return self._answer("submit", stream)

    def hidden(self) -> HiddenArguments:
        words, found = self.words.ctypes.data, self.found.ctypes.data
        packed = struct.pack("@4q", 0, 0, 0, words)
        functions = (self.at[name] for name in ("memset", "out", "wait"))
        return HiddenArguments(packed, words + 8, 16, found, words, *functions)


class Tool:
    """The dispatch table of a kernel on a device."""

    def __init__(self, array: object) -> None:
        self.table = DispatchTable(CallSignature("added", ("out", "a"), 2, None, {}))
        self.device, self.codes = CheckedDevice(), list[int]()
        at, kind, described = self.device.at, Array(dtypes.FLOAT32, 1), describe(array)
        assert described is not None
        parameters = [
            Parameter("out", kind, 0, ArgumentPart.DATA),
            Parameter("n", WEAK_INT, 0, ArgumentPart.SHAPE, 0),
            Parameter("a", kind, 1, ArgumentPart.DATA),
            Parameter("words", Scalar(dtypes.INT64), 2),
        ]
        fast_path = FastPathLaunch(
            layout_of(parameters),
            at["submit"],
            0xFEED,
            lambda code, head: self.codes.append(code),
            (at["current"], CONTEXT),
            lambda: self.device.staging,
            hidden=self.device.hidden(),
        )
        launch = RecordedLaunch(
            (array,) * 2, (described.type,) * 2, (described,) * 2, frozenset({0}), {}
        )
        assert self.table.record(launch, LaunchGuard(None, 0), fast_path, Signature(()))

    def runs(self, array: object) -> bool:
        configuration = LaunchConfiguration((1, 1, 1), (32, 1, 1), 0, STREAM, STREAM, True)
        return self.table.launch(configuration, (array, array))

    def take(self) -> list[str]:
        calls = [name for name, *_ in self.device.asked]
        self.device.asked.clear()
        return calls


ARRAYS = {"on the device": Own(5), "on the host": ones(5)}
CALLS = {
    "on the device": ["memset", "submit", "out", "wait"],
    "on the host": ["in", "memset", "submit", "out", "out", "wait"],
}
pytestmark = pytest.mark.parametrize("where", ARRAYS)


def test_memory_is_cleared_and_the_result_copied(where: str) -> None:
    tool, array = Tool(ARRAYS[where]), ARRAYS[where]
    for finds in (False, True, False):
        tool.device.finds = finds
        assert tool.runs(array)
        tool.device.words[0] = 0
        assert {call[-1] for call in tool.device.asked} == {STREAM}
        assert tool.take() == CALLS[where]
    assert tool.device.shadows == [[0, 0]] * 3
    assert tool.codes == [HAS_FINDINGS]


def test_a_launch_during_a_launch_does_not_share_memory(where: str) -> None:
    tool, array, nested = Tool(ARRAYS[where]), ARRAYS[where], list[bool]()
    tool.device.nested = lambda: nested.append(tool.runs(array))
    assert tool.runs(array)
    assert tool.runs(array)
    assert nested == [False, False]


@pytest.mark.parametrize("call", ["out", "wait"])
def test_an_error_after_the_start(call: str, where: str) -> None:
    tool, array = Tool(ARRAYS[where]), ARRAYS[where]
    tool.device.finds, tool.device.codes[call] = True, 700
    assert tool.runs(array)
    assert tool.codes == [700]
    tool.device.codes.clear()
    assert tool.runs(array)
    assert tool.codes == [700, HAS_FINDINGS]


@pytest.mark.parametrize("call", ["memset", "submit"])
def test_a_launch_that_does_not_start_takes_the_slow_path(call: str, where: str) -> None:
    tool, array = Tool(ARRAYS[where]), ARRAYS[where]
    tool.device.finds, tool.device.codes[call] = True, 1
    assert not tool.runs(array)
    tool.device.codes.clear()
    tool.device.words[0] = 0
    tool.device.finds = False
    assert tool.runs(array)
    assert tool.codes == []

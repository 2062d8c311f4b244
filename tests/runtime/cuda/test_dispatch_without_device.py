"""The dispatch table for launches on a device, with a driver that records its calls."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from cuda.bindings import driver

from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.types import WEAK_INT, Array, Signature
from pycu2c.cuda_driver import cuda_errors
from pycu2c.cuda_driver import driver as real_driver
from pycu2c.native._dispatch import DeviceArrayBase, LaunchConfiguration, recent_kernels
from pycu2c.runtime.arguments.arguments import describe, layout_of
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch.guards import RecordedLaunch
from pycu2c.runtime.dispatch.table import DispatchTable, LaunchGuard
from pycu2c.runtime.runner import FastPathLaunch
from support.launching import leaks

KERNEL, CONTEXT, ADDRESS = 0xFEED, 0xC0DE, 0x1000
SIGNATURE = Signature(())
NUMBERS = [ctypes.c_uint] * 7
SUBMIT = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *NUMBERS, *[ctypes.c_void_p] * 2, ctypes.POINTER(ctypes.c_void_p)
)
SUBMIT_WITH_FLAGS = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
CURRENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))


class Asked(NamedTuple):
    """A call of cuLaunchKernel."""

    kernel: int
    shape: tuple[int, ...]
    shared: int
    stream: int
    packed: bytes


class Driver:
    """Starts nothing. ``code`` is what it answers, ``context`` what is current."""

    def __init__(self) -> None:
        self.code, self.context, self.asked = 0, CONTEXT, list[Asked]()
        self.flags = list[int]()
        self._functions = (
            SUBMIT(self._submit),
            CURRENT(self._current),
            SUBMIT_WITH_FLAGS(self._submit_with_flags),
        )
        self.submit, self.current, self.submit_with_flags = (
            ctypes.cast(f, ctypes.c_void_p).value or 0 for f in self._functions
        )

    def _submit(self, kernel: int, *rest: Any) -> int:
        *numbers, shared, stream, parameters, extra = rest
        assert parameters is None
        assert (extra[0], extra[2], extra[4]) == (1, 2, None)
        size = ctypes.c_size_t.from_address(extra[3]).value
        packed = ctypes.string_at(extra[1], size)
        self.asked.append(Asked(kernel, tuple(numbers), shared, stream or 0, packed))
        return self.code

    def _submit_with_flags(self, config: int, kernel: int, parameters: Any, extra: int) -> int:
        launch = driver.CUlaunchConfig(config)  # a copy
        shape = (
            *(launch.gridDimX, launch.gridDimY, launch.gridDimZ),
            *(launch.blockDimX, launch.blockDimY, launch.blockDimZ),
        )
        (address,) = struct.unpack("P", ctypes.string_at(config + 40, 8))
        attributes = [driver.CUlaunchAttribute(address + 72 * n) for n in range(launch.numAttrs)]
        assert all(attribute.value.cooperative == 1 for attribute in attributes)
        self.flags = [int(attribute.id) for attribute in attributes]
        pointers = ctypes.cast(extra, ctypes.POINTER(ctypes.c_void_p))
        stream = int(launch.hStream)
        return self._submit(kernel, *shape, launch.sharedMemBytes, stream, parameters, pointers)

    def _current(self, to: Any) -> int:
        to[0] = self.context
        return 0


class Own(DeviceArrayBase):
    """An array of this package."""

    __slots__ = ("__weakref__", "told")

    def __init__(
        self,
        *shape: int,
        dtype: str = "f4",
        device: int = 0,
        writeable: bool = True,
        contiguous: bool = True,
    ) -> None:
        self.told, kind = list[object](), np.dtype(dtype)
        steps = np.cumprod([kind.itemsize, *shape[:0:-1]])[::-1]
        strides = tuple(map(int, steps))
        super().__init__(ADDRESS, device, shape, strides, kind, writeable, contiguous)

    def used_on(self, stream: object) -> None:
        self.told.append(stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = ADDRESS, not self.writeable
        raised = {"data": data, "typestr": self.dtype.str, "shape": self.shape}
        return {**raised, "strides": self.strides, "version": 3}


class Foreign:
    """An array of another package."""

    def __init__(self, *shape: int, typestr: str = "<f4", **others: Any) -> None:
        own = {"data": (ADDRESS, False), "typestr": typestr, "shape": shape, "version": 3}
        self.told: Any = {**own, **others}

    @property
    def __cuda_array_interface__(self) -> Any:
        if isinstance(self.told, BaseException):
            raise self.told
        return self.told


class Tool(NamedTuple):
    """The dispatch table for a kernel of one array on a driver."""

    driver: Driver
    table: DispatchTable

    def learn(
        self,
        array: object,
        *,
        written: bool = True,
        flags: int = 0,
        in_order: bool = True,
    ) -> bool:
        described = describe(array)
        assert described is not None
        parameters = [Parameter("x", Array(described.dtype, 1), 0, ArgumentPart.DATA)]
        for axis in range(len(described.shape)):
            parameters += [
                Parameter("n", WEAK_INT, 0, ArgumentPart.SHAPE, axis),
                Parameter("s", WEAK_INT, 0, ArgumentPart.STRIDE, axis),
            ]
        context = self.driver.current, CONTEXT
        layout = layout_of(parameters)
        submit = self.driver.submit_with_flags if flags else self.driver.submit
        fast_path = FastPathLaunch(
            layout, submit, KERNEL, lambda code, head: None, context, flags=flags
        )
        written_ones = {0} if written else set[int]()
        types, leaves = (described.type,), (described,)
        launch = RecordedLaunch((array,), types, leaves, written_ones, {}, is_ordered=in_order)
        return self.table.record(launch, LaunchGuard(None, 0), fast_path, SIGNATURE)

    def runs(self, array: object, stream: Any = 0, in_order: bool = True) -> bool:
        extents = (2, 3, 4), (5, 6, 7)
        configuration = LaunchConfiguration(*extents, 0, stream, int(stream), in_order)
        return self.table.launch(configuration, (array,))


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setattr(real_driver, "has_multiple_devices", lambda: False)
    return Tool(Driver(), DispatchTable(CallSignature("one", ("x",), 1, None, {})))


MAKERS: list[Callable[..., Any]] = [Own, Foreign]
every_kind = pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.__name__)


@every_kind
def test_calls_of_the_driver(tool: Tool, kind: Callable[..., Any]) -> None:
    assert tool.learn(kind(5, 6))
    assert tool.runs(kind(7, 8), stream=9)
    packed = struct.pack("@5q", ADDRESS, 7, 8, 8, 1)
    assert tool.driver.asked == [Asked(KERNEL, (2, 3, 4, 5, 6, 7), 0, 9, packed)]
    assert tool.table.take_latest() is SIGNATURE


def test_launch_attributes(tool: Tool) -> None:
    assert tool.learn(Own(5), flags=1 << 2 | 1 << 6)
    assert tool.runs(Own(5), stream=9)
    packed = struct.pack("@3q", ADDRESS, 5, 1)
    assert tool.driver.asked == [Asked(KERNEL, (2, 3, 4, 5, 6, 7), 0, 9, packed)]
    assert tool.driver.flags == [2, 6]


def test_a_fault_names_the_kernels_that_c_has_started(tool: Tool) -> None:
    assert tool.learn(Own(5))
    for _ in range(9):
        assert tool.runs(Own(5))
    assert "one" in str(cuda_errors.error_for("CUDA_ERROR_ILLEGAL_ADDRESS", "no", "wait"))
    recent = recent_kernels()
    assert recent[-1] == "one"
    assert recent[-2:] != ["one", "one"]  # a kernel that is launched often hides no other


@every_kind
def test_rejected_launches_take_the_slow_path(tool: Tool, kind: Callable[..., Any]) -> None:
    assert tool.learn(kind(5))
    tool.driver.code = 719
    assert not tool.runs(kind(5))
    tool.driver.code = 0
    assert tool.runs(kind(5))


@every_kind
def test_another_context_is_left_to_python(tool: Tool, kind: Callable[..., Any]) -> None:
    assert tool.learn(kind(5))
    for context in (0, CONTEXT + 1):
        tool.driver.context = context
        assert not tool.runs(kind(5))
    assert tool.driver.asked == []


@every_kind
def test_arrays_that_differ(tool: Tool, kind: Callable[..., Any]) -> None:
    assert tool.learn(kind(5))
    assert tool.runs(kind(1))
    for other in (kind(5, 1), kind(0), kind(1 << 30), np.zeros(5, np.float32), None):
        assert not tool.runs(other)
    assert len(tool.driver.asked) == 1


def test_own_arrays_that_differ(tool: Tool) -> None:
    assert tool.learn(Own(5))
    for other in (
        Own(5, dtype="f8"),
        Own(5, device=1),
        Own(5, writeable=False),
        Own(5, contiguous=False),
    ):
        assert not tool.runs(other)
    assert not tool.runs(Own.__new__(Own))  # __init__ was not called
    array = Own(5)
    with pytest.raises(ValueError, match="made once"):
        DeviceArrayBase.__init__(array, 0, 0, (5,), (4,), array.dtype, True, True)


def test_own_arrays_that_are_only_read(tool: Tool) -> None:
    assert tool.learn(Own(5, writeable=False), written=False)
    assert tool.runs(Own(5, writeable=False))
    assert tool.runs(Own(5))


def test_an_array_records_non_blocking_streams(tool: Tool) -> None:
    array, stream = Own(5), 77
    assert tool.learn(array)
    assert tool.runs(array, stream)
    assert array.told == []
    assert tool.runs(array, stream, in_order=False)
    assert array.told == [77]


def test_memory_of_a_peer_in_streams_that_the_program_orders(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_driver, "has_multiple_devices", lambda: True)
    monkeypatch.setattr(real_driver, "current_ordinal", lambda: 0)
    array, stream = Own(5, device=1), 77
    assert not tool.learn(array)
    assert tool.learn(array, in_order=False)
    assert tool.runs(array, stream, in_order=False)
    assert array.told == [77]
    assert not tool.runs(array)
    assert not tool.runs(Own(5), stream, in_order=False)


# ---- of other packages ---------------------------------------------------------------------

WRONG: dict[str, Any] = {
    "another type": Foreign(5, typestr="<f8"),
    "no type": Foreign(5, typestr=None),
    "read-only": Foreign(5, data=(ADDRESS, True)),
    "unaligned": Foreign(5, data=(ADDRESS + 2, False)),
    "no address": Foreign(5, data=None),
    "strides": Foreign(5, strides=(8,)),
    "odd strides": Foreign(5, strides=(6,)),
    "too many strides": Foreign(5, strides=(4, 4)),
    "a mask": Foreign(5, mask=Foreign(5)),
    "work in a stream": Foreign(5, stream=3),
    "a stream of no number": Foreign(5, stream="x"),
    "floats": Foreign(5.0),  # type: ignore[arg-type]
    "too large": Foreign(1 << 64),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_foreign_arrays_that_differ(tool: Tool, wrong: str) -> None:
    assert tool.learn(Foreign(5))
    assert tool.runs(Foreign(5))
    assert not tool.runs(WRONG[wrong])
    assert len(tool.driver.asked) == 1


def test_strides_that_are_as_without_gaps(tool: Tool) -> None:
    assert tool.learn(Foreign(5, 6))
    assert tool.runs(Foreign(5, 6, strides=(24, 4)))
    assert tool.runs(Foreign(1, 6, strides=(7, 4)))
    assert not tool.runs(Foreign(2, 6, strides=(48, 4)))
    assert tool.learn(Foreign(5, 6, strides=(48, 8)))
    assert tool.runs(Foreign(5, 6, strides=(48, 8)))
    assert tool.driver.asked[-1].packed == struct.pack("@5q", ADDRESS, 5, 12, 6, 2)


@pytest.mark.parametrize(
    ("owner", "stream", "runs"),
    [(None, 5, True), (1, 0, True), (0, 1, True), (5, 5, True), (5, 0, False), (1, 5, False)],
)
def test_streams_of_the_owner(tool: Tool, owner: int | None, stream: int, runs: bool) -> None:
    assert tool.learn(Foreign(5))
    assert tool.runs(Foreign(5, stream=owner), stream) == runs


def test_exceptions_of_attributes(tool: Tool) -> None:
    array = Foreign(5)
    assert tool.learn(array)
    array.told = ValueError("no")
    assert not tool.runs(array)
    array.told = {}
    assert not tool.runs(array)
    array.told = None
    assert not tool.runs(array)
    array.told = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        tool.runs(array)


class Pointer(NamedTuple):
    ptr: int


class CupyArray(Foreign):
    """As an array of CuPy's."""

    def __init__(self, *shape: int, dtype: str = "f4", strides: object = None) -> None:
        super().__init__(*shape, typestr="<f4", strides=strides)
        self.shape, self.dtype, self.data = shape, np.dtype(dtype), Pointer(ADDRESS)
        self._c_contiguous = strides is None


CupyArray.__module__, CupyArray.__name__ = "cupy", "ndarray"


@pytest.fixture
def current(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where "CuPy" works."""
    result, module = [0], ModuleType("cupy.cuda")
    module.get_current_stream = lambda: Pointer(result[0])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy.cuda", module)
    return result


def test_arrays_of_known_packages(tool: Tool, current: list[int]) -> None:
    kind, first = CupyArray, CupyArray(5, 6)
    assert tool.learn(first)
    first.told = KeyboardInterrupt()  # it is not read any more
    assert tool.runs(first)
    assert tool.runs(kind(7, 8))
    assert tool.driver.asked[-1].packed == struct.pack("@5q", ADDRESS, 7, 8, 8, 1)
    for other in (kind(5), kind(5, 6, dtype="f8"), kind(5, 6, strides=(48, 8)), kind(0, 6)):
        assert not tool.runs(other)
    assert tool.learn(kind(5, 6, strides=(48, 8)))
    assert tool.runs(kind(5, 6, strides=(48, 8)))
    assert tool.driver.asked[-1].packed == struct.pack("@5q", ADDRESS, 5, 12, 6, 2)


def test_the_stream_of_cupy(tool: Tool, current: list[int]) -> None:
    assert tool.learn(CupyArray(5))
    current[0] = 5
    assert not tool.runs(CupyArray(5))
    assert tool.runs(CupyArray(5), stream=5)
    array = CupyArray(5)
    del array.data
    assert not tool.runs(array, stream=5)


def test_another_version_of_a_package_is_read_by_its_interface(tool: Tool) -> None:
    class Other(Foreign):
        pass

    Other.__module__, Other.__name__ = "cupy", "ndarray"
    assert tool.learn(Other(5))
    assert tool.runs(Other(6))


# ---- references ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*MAKERS, CupyArray], ids=lambda kind: kind.__name__)
def test_nothing_leaks(tool: Tool, kind: Callable[..., Any], current: list[int]) -> None:
    right, wrong = kind(5, 6), kind(5)
    assert tool.learn(right)
    tool.driver.asked = None  # type: ignore[assignment]

    def launch() -> None:
        tool.driver.context = 0  # all but the last step
        tool.runs(right)
        tool.runs(wrong)
        tool.runs(right, 5, in_order=False)

    if kind is Own:
        right.told = wrong.told = type("", (), {"append": lambda self, x: None})()
    assert not leaks(launch, 5000, 50)


def test_the_same_entry_is_made_once(tool: Tool, current: list[int]) -> None:
    assert tool.learn(CupyArray(5))
    assert not tool.learn(CupyArray(6))


def test_entries_of_other_devices_are_made_until_the_table_is_full(tool: Tool) -> None:
    assert tool.learn(Own(5))
    assert not tool.learn(Own(6))
    learnt = [tool.learn(Own(5, device=n)) for n in range(20)]
    assert learnt == [n and n < 16 for n in range(20)]
    assert not any(tool.table.should_record() for _ in range(10))  # there is no room


def test_failing_entries_are_retried_ever_more_rarely(tool: Tool) -> None:
    tried = [n for n in range(1, 70) if tool.table.should_record()]
    assert tried == [1, 2, 4, 8, 16, 32, 64]
    assert tool.learn(Own(5))
    assert tool.table.should_record()

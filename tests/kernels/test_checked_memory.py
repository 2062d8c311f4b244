"""The arrays of checked launches on a GPU, with host memory in place of a device."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from pycu2c.base.diagnostics import LaunchError
from pycu2c.checks.device_functions.recording import COUNT, FOUND, LIMIT, MAX_VALUES, VALUES
from pycu2c.kernels import checked_memory
from pycu2c.kernels.checked_memory import DeviceFindings
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import array_over
from pycu2c.runtime.cuda.memory import HostMemory
from pycu2c.runtime.launch_configuration import Launch

LAUNCH = Launch((1, 1, 1), (1, 1, 1), None, 0)
SHAPES = ((3, 5), (7,))


class HostDriver:
    """Copies within host memory. ``calls``: the functions that were called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def fill(self, address: int, pattern: bytes, count: int, stream: int) -> None:
        self.calls.append("fill")
        ctypes.memset(address, pattern[0], count * len(pattern))

    def copy_in(self, target: int, source: int, size: int, stream: int = 0) -> None:
        self.calls.append(f"copy_in {size}")
        ctypes.memmove(target, source, size)

    def copy_out(self, target: int, source: int, size: int, stream: int = 0) -> None:
        self.calls.append(f"copy_out {size}")
        ctypes.memmove(target, source, size)

    def synchronize(self, stream: int = 0) -> None:
        self.calls.append("synchronize")

    def make_current(self) -> None:
        pass

    def current_ordinal(self) -> int:
        return 0

    def stream_of(self, stream: object) -> int:
        return 0

    def take(self) -> list[str]:
        calls = self.calls.copy()
        self.calls.clear()
        return calls


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> HostDriver:
    host = HostDriver()
    monkeypatch.setattr(checked_memory, "driver", host)
    monkeypatch.setattr(checked_memory, "DeviceMemory", HostMemory)
    return host


def on_device(argument: ArrayArgument) -> Any:
    return array_over(argument.address, (argument.shape, argument.strides, argument.dtype.numpy))


ROW = 8 * (VALUES + MAX_VALUES)
CLEAN_LAUNCH = ["fill", f"copy_out {ROW}", "synchronize"]


def test_a_launch_without_findings_copies_only_its_state(driver: HostDriver) -> None:
    findings = DeviceFindings(2)
    with findings.arrays(SHAPES, 1.5, LAUNCH) as first:
        rows = on_device(first.arguments[0])
        assert rows[-1, LIMIT] == 1_500_000_000
        assert not rows[:, COUNT].any()
    assert driver.take() == [f"copy_in {3 * ROW}", "synchronize", *CLEAN_LAUNCH]
    with findings.arrays(SHAPES, 1.5, LAUNCH) as second:
        assert second.arguments[0].address == first.arguments[0].address
    assert driver.take() == CLEAN_LAUNCH
    with findings.arrays(SHAPES, 2.5, LAUNCH) as third:
        assert on_device(third.arguments[0])[-1, LIMIT] == 2_500_000_000


def test_findings_are_those_of_one_launch(driver: HostDriver) -> None:
    findings = DeviceFindings(2)
    with findings.arrays((), 1, LAUNCH) as first:
        rows = on_device(first.arguments[0])
        rows[1, COUNT] = rows[-1, FOUND] = 1
    assert first.rows[:, COUNT].tolist() == [0, 1, first.rows[-1, COUNT]]
    with findings.arrays((), 1, LAUNCH) as second:
        assert not on_device(second.arguments[0])[:2].any()
    assert not second.rows[:2].any()


def test_shadows_are_zero_and_apart(driver: HostDriver) -> None:
    findings = DeviceFindings(1)
    for value in (1, 2):
        with findings.arrays(SHAPES, 1, LAUNCH) as arrays:
            _, *shadows = map(on_device, arrays.arguments)
            assert [s.shape for s in shadows] == [*SHAPES]
            assert not any(s.any() for s in shadows)
            for shadow in shadows:
                shadow[...] = value
            assert all((s == value).all() for s in shadows)


def test_two_launches_at_once_have_their_own_arrays(driver: HostDriver) -> None:
    findings = DeviceFindings(1)
    with findings.arrays(SHAPES, 1, LAUNCH) as first, findings.arrays(SHAPES, 1, LAUNCH) as second:
        addresses = [a.address for arrays in (first, second) for a in arrays.arguments]
    assert len(set(addresses)) == 6


def test_arrays_of_a_launch_that_fails_are_not_used_again(driver: HostDriver) -> None:
    findings = DeviceFindings(1)
    arrays = findings.arrays((), 1, LAUNCH)
    on_device(arrays.__enter__().arguments[0])[0, COUNT] = 1
    error = LaunchError("no such stream")
    assert not arrays.__exit__(LaunchError, error, None)
    with findings.arrays((), 1, LAUNCH) as second:
        assert not on_device(second.arguments[0])[0].any()

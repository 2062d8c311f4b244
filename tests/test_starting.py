"""The driver starts in a thread of its own, and whoever needs it waits."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from pycu2c.runtime import driver, starting
from pycu2c.runtime.by_one import by_one
from pycu2c.runtime.cuda_errors import CudaError


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of one GPU."""
    made: list[int] = []
    monkeypatch.setattr(starting, "begin", starting.begin.__wrapped__)
    monkeypatch.setattr(driver, "why_no_driver", lambda: "")
    monkeypatch.setattr(driver, "available", lambda: True)
    monkeypatch.setattr(driver, "several", lambda: False)
    monkeypatch.setattr(driver, "primary_context", made.append)
    return made


def began() -> bool:
    """Whether a thread was started; it has ended."""
    answer: bool = starting.begin()
    for thread in threading.enumerate():
        if thread.name == "pycu2c-start":
            thread.join()
    return answer


def test_a_context_is_opened(contexts: list[int]) -> None:
    assert began()
    assert contexts == [0]


def test_nothing_is_started_without_a_driver(
    contexts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "why_no_driver", lambda: "there is no CUDA driver")
    assert not began()
    assert contexts == []


def test_of_several_gpus_none_is_chosen(
    contexts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "several", lambda: True)
    assert began()
    assert contexts == []


def test_errors_are_for_the_launch(contexts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: int) -> None:
        raise CudaError("CUDA_ERROR_OUT_OF_MEMORY", "out of memory", "open the primary context")

    monkeypatch.setattr(driver, "primary_context", refused)
    assert began()  # pytest would tell of an exception in the thread


def test_one_thread_computes_what_others_wait_for() -> None:
    computed: list[int] = []

    @by_one
    def squared(n: int) -> int:
        computed.append(n)
        time.sleep(0.05)
        return n * n

    found = SimpleNamespace(values=[])
    threads = [threading.Thread(target=lambda: found.values.append(squared(3))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (computed, found.values) == ([3], [9] * 8)


def test_what_failed_is_tried_again() -> None:
    tried: list[int] = []

    @by_one
    def failing() -> int:
        tried.append(1)
        if len(tried) == 1:
            raise OSError("not yet")
        return 5

    with pytest.raises(OSError, match="not yet"):
        failing()
    assert failing() == 5

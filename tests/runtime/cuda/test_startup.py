"""The driver starts in a separate thread; launches wait for it."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy as np
import pytest

from pycu2c import float32, kernel
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import libcuda
from pycu2c.kernels.kernel import Backend
from pycu2c.runtime.cuda import startup


class Library:
    """A driver that notes its calls."""

    def __init__(self, gpus: int, error: int = 0) -> None:
        self.gpus, self.error = gpus, error
        self.called: list[str] = []

    def cuInit(self, flags: int) -> int:
        self.called.append(f"cuInit({flags})")
        return self.error

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = self.gpus
        return 0

    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> int:
        self.called.append(f"a context on {device}")
        return 0


def began(library: object, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a thread was started; it has ended."""
    monkeypatch.setattr(libcuda, "library", lambda: library)
    answer: bool = startup.start_driver.__wrapped__()
    for thread in threading.enumerate():
        if thread.name == "pycu2c-start":
            assert not thread.daemon
            thread.join()
    return answer


def test_a_context_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(1)
    assert began(library, monkeypatch)
    assert library.called == ["cuInit(0)", "a context on 0"]


def test_nothing_is_started_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not began("there is no CUDA driver", monkeypatch)


@pytest.mark.parametrize("library", [Library(0), Library(2), Library(1, error=100)])
def test_no_context_is_opened(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU, of several, after an error, which the launch will tell."""
    assert began(library, monkeypatch)
    assert library.called == ["cuInit(0)"]


@pytest.mark.parametrize(
    ("backend", "starts"), [("cuda", 1), ("auto", 1), ("cpu", 0), ("python", 0)]
)
def test_a_launch_starts_it_and_nothing_else_does(
    backend: Backend, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(startup, "start_driver", lambda: begun.append(True))

    @kernel(backend=backend)
    def k(x: float32[:]):
        x[0] = 1

    k.inspect("c")
    assert not begun
    with contextlib.suppress(LaunchError):  # without a GPU
        kernel(backend=backend)(k.python)[1, 1](np.zeros(1, np.float32))
    assert len(begun) == starts

"""NVTX ranges and trace spans around launches."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from pycu2c import LaunchError, cuda
from pycu2c.base.output import tracing
from pycu2c.base.output.tracing import collecting_spans
from pycu2c.kernels.kernel import Kernel


def twice(x):
    x[cuda.grid(1)] *= 2


@pytest.fixture
def ranges(monkeypatch):
    """What a profiler would see."""
    seen: list[str] = []

    @contextmanager
    def annotate(message, domain):
        seen.append(f"{domain}: {message}")
        yield
        seen.append("end")

    monkeypatch.setitem(sys.modules, "nvtx", SimpleNamespace(annotate=annotate))
    return seen


def test_each_launch_has_a_range(target, monkeypatch, ranges):
    monkeypatch.setenv("PYCU2C_NVTX", "1")
    k, x = Kernel(twice, backend=target), np.ones(4)
    for _ in range(4):  # the dispatch table would run the later ones
        k[1, 4](x)
    assert ranges == ["pycu2c: twice", "end"] * 4
    assert (x == 16).all()


def test_ranges_are_off_by_default(target, ranges):
    Kernel(twice, backend=target)[1, 4](np.ones(4))
    assert ranges == []


def test_without_the_package_it_says_so(monkeypatch):
    monkeypatch.setenv("PYCU2C_NVTX", "1")
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(LaunchError, match="pip install nvtx"):
        Kernel(twice, backend="cpu")[1, 4](np.ones(4))


def test_the_package(monkeypatch):
    """The real one takes what it is given."""
    pytest.importorskip("nvtx")
    monkeypatch.setenv("PYCU2C_NVTX", "1")
    x = np.ones(4)
    Kernel(twice, backend="cpu")[1, 4](x)
    assert (x == 2).all()


@pytest.mark.parametrize("nvtx", ["0", "1"])
def test_each_launch_of_a_traced_process_has_a_span(target, nvtx, monkeypatch, ranges):
    monkeypatch.setenv("PYCU2C_NVTX", nvtx)
    monkeypatch.setattr(tracing, "TRACE_FILE", "trace.json")
    k, x = Kernel(twice, backend=target), np.ones(4)
    with collecting_spans() as spans:
        for _ in range(4):
            k[1, 4](x)
    assert [span.name for span in spans if span.category == "launch"] == ["twice"] * 4
    assert ranges == ["pycu2c: twice", "end"] * 4 * int(nvtx)
    assert (x == 16).all()

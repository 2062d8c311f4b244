"""Spans: logged by children of the logger ``pycu2c``, and written to a trace."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.base.output import tracing
from pycu2c.base.output.tracing import collecting_spans, span

PROGRAM = """
import numpy as np
from pycu2c import cuda, kernel

@kernel(backend="cpu")
def twice(a):
    a[cuda.grid(1)] *= 2

for _ in range(3):
    twice[1, 4](np.ones(4))
"""


def run_program(folder: Path, trace: str) -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    variables = {"PYCU2C_TRACE": trace, "PYCU2C_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(program)],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )


def contains(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
    begins = outer["ts"] <= inner["ts"]
    return begins and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


def apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    first, second = sorted((one, other), key=lambda event: event["ts"])
    return first["ts"] + first["dur"] <= second["ts"]


def test_trace_of_a_process(tmp_path: Path) -> None:
    run_program(tmp_path, "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    for event in events:
        assert event.keys() == {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"}
        assert event["ph"] == "X"
        assert min(event["dur"], event["ts"]) >= 0
    names = [event["name"] for event in events]
    assert names.count("twice") == 3, "each launch, also those that the dispatch table would start"
    assert {"build", "flatten_arrays", "emit", "front end of twice", "compile twice for cpu"} <= {
        *names
    }
    assert {"compile", "compile.passes", "load", "launch"} == {event["cat"] for event in events}
    for k, one in enumerate(events):
        for other in events[:k]:
            if one["tid"] == other["tid"]:
                assert apart(one, other) or contains(one, other) or contains(other, one)
    by_name = {event["name"]: event for event in events}
    assert contains(by_name["front end of twice"], by_name["build"])
    assert contains(by_name["compile twice for cpu"], by_name["emit"])


def test_the_default_file_is_named_after_the_process(tmp_path: Path) -> None:
    run_program(tmp_path, "1")
    (trace,) = tmp_path.glob("pycu2c-trace-*.json")
    (process,) = {event["pid"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert trace.name == f"pycu2c-trace-{process}.json"


@pytest.mark.parametrize("trace", ["0", ""])
def test_no_trace(tmp_path: Path, trace: str) -> None:
    assert not run_program(tmp_path, trace).stderr
    assert not list(tmp_path.glob("*.json"))


def test_a_trace_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "none" / "trace.json"
    stderr = run_program(tmp_path, str(path)).stderr
    assert stderr == f"pycu2c: cannot write {path}: No such file or directory\n"


def test_a_span_that_fails_is_recorded() -> None:
    with collecting_spans() as spans, pytest.raises(ZeroDivisionError), span("a", "b", x=1):
        raise ZeroDivisionError
    assert [(s.category, s.name, s.details) for s in spans] == [("a", "b", {"x": 1})]
    with span("a", "later"):
        pass
    assert len(spans) == 1


# ---- logging -----------------------------------------------------------------------------------


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.name, record.getMessage()) for record in caplog.records]


def test_compilations_and_slow_launches_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @kernel(backend="cpu", cache=False)
    def k(a):
        a[cuda.grid(1)] *= 2

    array = np.ones(4)
    with caplog.at_level(logging.DEBUG, "pycu2c"):
        for _ in range(5):
            k[1, 4](array)
    records = logged(caplog)
    assert any(n == "pycu2c.compile" and m.startswith("compile k for cpu: ") for n, m in records)
    assert any(n == "pycu2c.compile.passes" and m.startswith("emit: ") for n, m in records)
    assert 1 <= records.count(("pycu2c.launch", "k: slow path")) <= 5


def test_coroutines_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @kernel(backend="cpu-resumable", cache=False)
    def k(a):
        a[cuda.grid(1)] *= 2

    with caplog.at_level(logging.INFO, "pycu2c"):
        k[1, 4](np.ones(4))
    assert ("pycu2c.compile", "k: threads are coroutines") in logged(caplog)


def test_nothing_is_printed_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    with span("compile", "k"):
        pass
    tracing.log("compile", "k")
    assert capfd.readouterr() == ("", "")
    assert any(isinstance(h, logging.NullHandler) for h in logging.getLogger("pycu2c").handlers)

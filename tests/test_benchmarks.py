"""The benchmarks run, and what they time is right."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

import cpu_rows  # noqa: E402
from contenders import CONTENDERS, Task  # noqa: E402

WITHOUT_NUMPY = ("nbody-fast", "shuffle", "shared-histogram")  # another row has that already


def prepared(name: str, row: Any) -> Any:
    contender = CONTENDERS[name]
    task = Task(row, row.small, row.problem(row.small))
    module = importlib.import_module(contender.module)
    return task.problem, module.prepare(task, contender.option)


@pytest.mark.parametrize("row", cpu_rows.ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("name", ["pycu2c", "hand", "numpy"])
def test_rows_are_computed(name: str, row: Any) -> None:
    problem, run = prepared(name, row)
    if run is None:
        assert name == "numpy"
        assert row.name in WITHOUT_NUMPY
        return
    before = problem.disagreement()
    run.call()
    run.fetch()
    assert before
    assert not problem.disagreement()


def test_the_table() -> None:
    words = ("--rows", "saxpy,tiny", "--rounds", "2", "--only", "pycu2c,hand", "--small")
    ran = subprocess.run(
        (sys.executable, ROOT / "benchmarks" / "cpu.py", *words),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    head, saxpy, tiny = ran.stdout.splitlines()[-3:]
    assert "pycu2c/hand (best)" in head
    assert "failed" not in saxpy + tiny
    assert saxpy.startswith("saxpy 2^24, ms")
    assert tiny.startswith("tiny launch, µs")


def test_the_table_of_launches() -> None:
    ran = subprocess.run(
        (sys.executable, ROOT / "benchmarks" / "launch.py", "--cpu", "--rounds", "1"),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    *_, head, first = ran.stdout.partition("launches on the CPU")[2].splitlines()[:3]
    assert head.split(" | ")[1:] == ["3 arguments", "5 arguments", "12 arguments"]
    assert first.count("1.00×") == 3
    assert ran.stdout.splitlines()[-1].startswith("pycu2c: prepared")


def test_the_table_of_graphs() -> None:
    ran = subprocess.run(
        (sys.executable, ROOT / "benchmarks" / "graphs.py", "--rounds", "1"),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    _, head, *rows = ran.stdout.partition("graphs on")[2].splitlines()
    assert head.startswith("µs of 100 kernels")
    assert rows[0].count("1.000×") == 2
    assert rows[-1].startswith("one by one")


def test_a_first_call() -> None:
    ran = subprocess.run(
        (sys.executable, ROOT / "benchmarks" / "first_call.py", "pycu2c", "scale"),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(float(word) > 0 for word in ran.stdout.split())
    assert len(ran.stdout.split()) == 4

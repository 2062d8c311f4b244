"""The tests of CuPy and PyCUDA pass with pycu2c, except those that ``peer_suite_lists`` explains.

An environment variable names the checkout of each package: PYCU2C_CUPY_SUITE, PYCU2C_PYCUDA_SUITE.
``cupy.txt`` and ``pycuda.txt`` are the tables that the scripts print; a file must not pass fewer
tests than the table says.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import peer_suites
from support.peer_suite_lists import CUPY, PYCUDA
from support.peer_suites import Suite


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "file"),
    [pytest.param(suite, file, id=file) for suite in (CUPY, PYCUDA) for file in suite.files],
)
def test_the_tests_of_a_peer(suite: Suite, file: str) -> None:
    folder = os.environ.get(suite.variable)
    if not folder:
        pytest.skip(f"{suite.variable} names no checkout")
    outcomes = peer_suites.run_in_process(suite, Path(folder), file)
    assert dict(peer_suites.failures(outcomes)) == {}
    assert sum(kind == "passed" for kind, _ in outcomes.values()) >= suite.recorded()[file]
    assert suite.fixed_failures(file, outcomes) == [], "remove these from known_failures"


@pytest.mark.parametrize("suite", [CUPY, PYCUDA], ids=lambda suite: suite.script.stem)
def test_the_lists_are_consistent(suite: Suite) -> None:
    """Every file is recorded, and every pattern is of a file."""
    assert [*suite.recorded()] == [*suite.files]
    ends = tuple(f"{'/'.join(Path(file).parts[-2:])}::" for file in suite.files)
    assert all(p.startswith(ends) for p in (*suite.uncounted, *suite.known_failures))


def test_the_kinds_of_outcomes() -> None:
    """A test that is not counted is not, passed or failed; a known failure may pass."""
    suite = Suite(Path(), "", "", ("a/b.py",), {"a/b.py::n*": "why"}, {"a/b.py::k*": "reason"})
    names = {"n": "passed", "n2": "failed", "k": "failed", "k2": "passed", "x": "failed"}
    judged = {
        name: peer_suites.judge(suite, "a/b.py", name, [kind, "error"])
        for name, kind in names.items()
    }
    kinds = [kind for kind, _ in judged.values()]
    assert kinds == ["uncounted", "uncounted", "known", "passed", "failed"]
    assert dict(peer_suites.failures(judged)) == {"x": "error"}
    assert suite.fixed_failures("a/b.py", judged) == []
    assert suite.fixed_failures("a/b.py", {"k": ("passed", "")}) == ["a/b.py::k*"]

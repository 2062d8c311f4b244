"""The tests of CuPy pass with pycu2c, except those that ``peer_suite_lists`` explains.

The environment variable PYCU2C_CUPY_SUITE names the checkout. ``cupy.txt`` is the table that the
script prints; a file must not pass fewer tests than the table says.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import peer_suites
from support.peer_suite_lists import CUPY
from support.peer_suites import Suite


@pytest.mark.slow
@pytest.mark.parametrize("file", CUPY.files)
def test_the_tests_of_cupy(file: str) -> None:
    folder = os.environ.get(CUPY.variable)
    if not folder:
        pytest.skip(f"{CUPY.variable} names no checkout")
    outcomes = peer_suites.run_in_process(CUPY, Path(folder), file)
    assert dict(peer_suites.failures(outcomes)) == {}
    assert sum(kind == "passed" for kind, _ in outcomes.values()) >= CUPY.recorded()[file]
    assert CUPY.fixed_failures(file, outcomes) == [], "remove these from known_failures"


def test_the_lists_are_consistent() -> None:
    """Every file is recorded, and every pattern is of a file."""
    assert [*CUPY.recorded()] == [*CUPY.files]
    ends = tuple(f"{'/'.join(Path(file).parts[-2:])}::" for file in CUPY.files)
    assert all(p.startswith(ends) for p in (*CUPY.uncounted, *CUPY.known_failures))


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

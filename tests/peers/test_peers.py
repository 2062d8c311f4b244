"""The tests of CuPy and PyCUDA pass with pycu2c, except those that ``peer_suite_lists`` explains.

An environment variable names the checkout of each package: PYCU2C_CUPY_SUITE, PYCU2C_PYCUDA_SUITE.
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
    assert any(kind == "passed" or kind == "explained" for kind, _ in outcomes.values())
    assert dict(peer_suites.failures(outcomes)) == {}

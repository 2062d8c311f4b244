"""Programs with barriers and warp operations on every target, compared with numpy."""

from __future__ import annotations

import copy
import faulthandler
from collections.abc import Iterator

import numpy as np
import pytest

from pycu2c.kernels.specialization import generate_text
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run
from support.synchronization import (
    block_algorithms,
    blocks,
    clusters,
    divergence,
    grid_barriers,
    polling,
    shuffles,
    votes,
    waiting,
    warp_algorithms,
)
from support.synchronization.program import Case, Program

MODULES = (
    blocks,
    block_algorithms,
    waiting,
    polling,
    grid_barriers,
    clusters,
    shuffles,
    votes,
    divergence,
    warp_algorithms,
)
ALL = [v for m in MODULES for v in vars(m).values() if isinstance(v, Program)]
CASES = [
    pytest.param(p, case, id=f"{p.name}-{number}" if len(p.cases) > 1 else p.name)
    for p in ALL
    for number, case in enumerate(p.cases, start=1)
]


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """Native code that never ends takes the process with it, not the day."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize(("program", "case"), CASES)
def test_program(program: Program, case: Case, target: str) -> None:
    arguments = case.given()
    right = copy.deepcopy(arguments)
    program.expected(*right)
    result = run(program.kernel, case.configuration, arguments, target)
    changed = False
    pairs = zip(arguments, program.compared(right), program.compared(result))
    for before, expected, computed in pairs:
        np.testing.assert_array_equal(computed, expected)
        changed = changed or not np.array_equal(before, expected)
    assert changed, "a program that changes nothing tests nothing"


@pytest.mark.parametrize("program", ALL, ids=lambda p: p.name)
def test_nvrtc_compiles_without_a_warning(program: Program) -> None:
    launcher = program.kernel.launcher
    signature = launcher.signature(launcher.flatten(program.cases[0].given()))
    made = generate_text(launcher.compiler.build(signature), "cuda", program.kernel.options)
    binary = nvrtc.compile(made.text, made.entry, "sm_90", cache=False)
    assert binary.log.strip("\0\n ") == ""


def test_the_collection_is_not_empty() -> None:
    assert len(ALL) >= 120
    assert len({p.name for p in ALL}) == len(ALL)

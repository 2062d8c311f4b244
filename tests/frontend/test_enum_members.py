"""Members of enumerations in kernels are compile-time constants; those of IntEnum are numbers."""

from __future__ import annotations

from enum import Enum, IntEnum
from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, int32, kernel, vectorize
from support.kernels_from_text import module_from
from support.launching import run


class Color(Enum):
    RED = 1
    GREEN = "green"


class State(IntEnum):
    READY = 3
    RUNNING = -7
    ENDED = 2**40


CHOSEN = Color.GREEN
LAST = State.ENDED


@device
def is_red(color):
    return color == Color.RED


@kernel
def members(x, out):
    i = cuda.grid(1)
    out[0, i] = Color.RED == Color.GREEN
    out[1, i] = Color["GREEN"] == CHOSEN and Color["RED"] != CHOSEN
    out[2, i] = State["RUNNING"] + State.READY * 10
    out[3, i] = x[i] - State.ENDED if x[i] > State.READY else x[i] + State["READY"].value
    out[4, i] = is_red(Color.RED) + 2 * is_red(CHOSEN)
    out[4, i] += 10 * State.READY.value + LAST.value + 100 * Color.RED.value - State.ENDED
    match x[i]:
        case State.READY:
            out[5, i] = 1
        case State.RUNNING:
            out[5, i] = 2


def test_members(target: str) -> None:
    x = np.array([3, -7, 2**41, 0])
    (_, out) = run(members, (1, 4), [x, np.zeros((6, 4), np.int64)], target)
    assert out[:3].tolist() == [[0] * 4, [1] * 4, [23] * 4]
    assert out[3].tolist() == [6, -4, 2**40, 3]
    assert out[4:].tolist() == [[131] * 4, [1, 2, 0, 0]]


def test_as_arguments(target: str) -> None:
    @kernel
    def moved(x, state):
        if state == State.READY:
            x[cuda.grid(1)] = state + 1

    (x, _) = run(moved, (1, 2), [np.zeros(2, np.int64), State.READY], target)
    assert x.tolist() == [4, 4]


def test_as_results() -> None:
    @vectorize(["int64(int64)"], target="cuda")
    def next_state(x):
        return State["RUNNING"] if x == State.READY else State.READY

    assert next_state(np.array([3, 5])).tolist() == [-7, 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Color['BLUE']", "has no `BLUE`"),
        ("Color[n]", "n"),
    ],
)
def test_values_that_are_no_member(text: str, words: str, tmp_path: Path) -> None:
    lines = [f"from {__name__} import Color, State", "from pycu2c import kernel", "@kernel"]
    lines += ["def wrong(a, n):", f"    a[0] = 1 if {text} == 3 else 2"]
    made = module_from("\n".join(lines), tmp_path).wrong
    with pytest.raises(CompileError) as caught:
        made.inspect("c", (int32[:], int32))
    assert words in str(caught.value)

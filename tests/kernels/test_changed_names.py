"""Names that are assigned after a kernel that reads them was compiled: launches warn."""

# mypy: ignore-errors

from __future__ import annotations

import types
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from pycu2c import LaunchWarning, cuda, device, kernel

SETTINGS = types.ModuleType("settings")
NESTED = types.ModuleType("nested")


def reset() -> None:
    global SCALE, OFFSETS, TABLE, DTYPE, step
    SCALE, OFFSETS, TABLE, DTYPE = 2.5, (1, 2.5), np.arange(3), np.float32
    step = device(lambda x: x + NESTED.number)
    SETTINGS.number = NESTED.number = 7
    SETTINGS.nested = NESTED


reset()


@pytest.fixture(autouse=True)
def restored() -> None:
    reset()


def new_kernel(target: str):
    captured = 5

    def assign(value: object) -> None:
        nonlocal captured
        captured = value

    @kernel(backend=target)
    def k(out):
        local = cuda.local.array(1, DTYPE)
        local[0] = SETTINGS.number + SETTINGS.nested.number
        out[0] = SCALE + OFFSETS[1] + TABLE[1] + local[0] + step(1) + captured

    return k, assign


def launch(k) -> tuple[float, list[str]]:
    """Return the result of a launch, and the warnings."""
    out = np.zeros(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        k[1, 1](out)
    assert all(w.category is LaunchWarning and w.filename == __file__ for w in caught)
    return float(out[0]), [str(w.message) for w in caught]


CHANGES: dict[str, Callable[[Callable[[object], None]], object]] = {
    "SCALE": lambda _: globals().update(SCALE=2),
    "OFFSETS": lambda _: globals().update(OFFSETS=(1, 2)),
    "TABLE": lambda _: globals().update(TABLE=np.arange(3) * 2),
    "DTYPE": lambda _: globals().update(DTYPE=np.float64),
    "step": lambda _: globals().update(step=device(lambda x: x + 1)),
    "settings.number": lambda _: setattr(SETTINGS, "number", 8),
    "settings.nested": lambda _: setattr(SETTINGS, "nested", types.SimpleNamespace(number=7)),
    "nested.number": lambda _: setattr(NESTED, "number", 8),
    "captured": lambda assign: assign(6),
}
DELETED = lambda _: globals().pop("SCALE")  # noqa: E731
SAME_BYTES = lambda _: globals().update(TABLE=TABLE.view(np.float64))  # noqa: E731


@pytest.mark.parametrize("launches", [1, 4])  # the fourth is started by the dispatch table
@pytest.mark.parametrize(
    ("name", "change"),
    [*CHANGES.items(), ("SCALE", DELETED), ("TABLE", SAME_BYTES)],
    ids=[*CHANGES, "deleted", "another dtype"],
)
def test_a_launch_warns_of_a_changed_name(target: str, name: str, change, launches: int) -> None:
    k, assign = new_kernel(target)
    before = [launch(k) for _ in range(launches)]
    assert before == [(before[0][0], [])] * launches
    change(assign)
    result, messages = launch(k)
    assert result == before[0][0]
    (message,) = messages
    assert message.startswith(f"`{name}` changed after k was compiled, and k still uses its")
    assert "k.recompile()" in message
    assert [launch(k) for _ in range(3)] == [(result, [])] * 3  # once for each change


@pytest.mark.parametrize("name", [n for n in CHANGES if n not in ("DTYPE", "settings.nested")])
def test_a_recompiled_kernel_uses_the_new_value(target: str, name: str) -> None:
    k, assign = new_kernel(target)
    before, _ = launch(k)
    CHANGES[name](assign)
    k.recompile()
    after = [launch(k) for _ in range(3)]
    assert after == [(after[0][0], [])] * 3
    assert after[0][0] != before


def test_equal_values_and_functions_are_no_change(target: str) -> None:
    """As where the cell of a notebook runs again."""
    k, _ = new_kernel(target)
    before = [launch(k) for _ in range(3)]
    for _ in range(2):
        reset()
        globals().update(SCALE=float("2.5"))
        assert launch(k) == before[0]


def test_names_that_change_before_the_first_launch(target: str) -> None:
    global SCALE
    k, _ = new_kernel(target)
    SCALE = 3
    assert launch(k)[1] == []


def test_two_names_that_change(target: str) -> None:
    global SCALE, TABLE
    k, _ = new_kernel(target)
    launch(k)
    SCALE, TABLE = 3, TABLE + 1
    (message,) = launch(k)[1]
    assert message.startswith("`SCALE` and `TABLE` changed after k was compiled")


def test_other_names_of_a_module_and_a_function_may_change(target: str) -> None:
    k, _ = new_kernel(target)
    before = [launch(k) for _ in range(3)]
    SETTINGS.other = 3
    globals()["OTHER"] = 4
    assert launch(k) == before[0]

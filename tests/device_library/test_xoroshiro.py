"""xoroshiro128+: numba's streams, on every target. The numbers are those that numba gave."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

from pycu2c import CompileError, cuda, kernel
from pycu2c.cuda import random
from pycu2c.cuda.random import create_xoroshiro128p_states, xoroshiro128p_dtype
from pycu2c.device_library.random import states as states_module
from support.launching import run
from support.paths import DATA

RECORDED = DATA / "recorded" / "xoroshiro128p.txt"
SEEDED = [(1, 0), (2**63 + 12345, 3)]  # seed, subsequence_start


def recorded(what: str, seeded: tuple[int, int], kind: Any = np.uint64) -> np.ndarray[Any, Any]:
    """A row of numbers for each of four streams."""
    head = f"{what} {seeded[0]} {seeded[1]} "
    rows = [
        line.removeprefix(head)
        for line in RECORDED.read_text().splitlines()
        if line.startswith(head)
    ]
    return np.array([[np.dtype(kind).type(word) for word in row.split()] for row in rows])


@kernel
def draw_integers(states, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(out.shape[1]):
            out[i, k] = cuda.random.xoroshiro128p_next(states, i)


@kernel
def draw_uniform_32(states, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(out.shape[1]):
            out[i, k] = random.xoroshiro128p_uniform_float32(states, i)


@kernel
def draw_uniform_64(states, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(out.shape[1]):
            out[i, k] = random.xoroshiro128p_uniform_float64(states, i)


@kernel
def draw_normal_32(states, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(out.shape[1]):
            out[i, k] = random.xoroshiro128p_normal_float32(states, i)


@kernel
def draw_normal_64(states, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(out.shape[1]):
            out[i, k] = random.xoroshiro128p_normal_float64(states, i)


DRAWN = {
    "uniform_float32": draw_uniform_32,
    "uniform_float64": draw_uniform_64,
    "normal_float32": draw_normal_32,
    "normal_float64": draw_normal_64,
}


def states_of(seeded: tuple[int, int], n: int = 4) -> Any:
    return create_xoroshiro128p_states(n, *seeded).copy_to_host()


@pytest.mark.parametrize("seeded", SEEDED)
def test_states(seeded: tuple[int, int]) -> None:
    assert states_of(seeded).tolist() == [*map(tuple, recorded("state", seeded).tolist())]


@pytest.mark.parametrize("seeded", SEEDED)
def test_integers_are_numbas(seeded: tuple[int, int], target: str) -> None:
    out = np.zeros((4, 5), np.uint64)
    states, out = run(draw_integers, (1, 32), [states_of(seeded), out], target)
    np.testing.assert_array_equal(out, recorded("next", seeded))
    assert (states != states_of(seeded)).all()


@pytest.mark.parametrize("seeded", SEEDED)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_uniforms_are_numbas(seeded: tuple[int, int], kind: Any, target: str) -> None:
    what = f"uniform_{kind.__name__}"
    out = np.zeros((4, 5), kind)
    result = run(DRAWN[what], (1, 32), [states_of(seeded), out], target)[1]
    np.testing.assert_array_equal(result, recorded(what, seeded, kind))


@pytest.mark.parametrize("seeded", SEEDED)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_normals_are_numbas(seeded: tuple[int, int], kind: Any, target: str) -> None:
    """As near as log and cos of other machines are; the angle is rounded to float32."""
    what = f"normal_{kind.__name__}"
    out = np.zeros((4, 5), kind)
    result = run(DRAWN[what], (1, 32), [states_of(seeded), out], target)[1]
    np.testing.assert_allclose(result, recorded(what, seeded, kind), rtol=1e-6, atol=1e-7)


def test_normals_are_the_same_everywhere(target: str) -> None:
    """To the last bit."""
    for kernel_of, kind in [(draw_normal_32, np.float32), (draw_normal_64, np.float64)]:
        arguments = [states_of((8, 0), 16), np.zeros((16, 4), kind)]
        result, known = (run(kernel_of, (1, 16), arguments, t)[1] for t in (target, "python"))
        np.testing.assert_array_equal(result, known)


@kernel
def jumped(states):
    random.xoroshiro128p_jump(states, cuda.threadIdx.x)


def test_a_jump_is_the_next_state(target: str) -> None:
    states = states_of((5, 0), 9)
    (result,) = run(jumped, (1, 8), [states[:8].copy()], target)
    np.testing.assert_array_equal(result, states[1:])


@kernel
def seeded_states(states, seeds):
    i = cuda.threadIdx.x
    random.init_xoroshiro128p_state(states, i, seeds[i])


def test_states_made_in_a_kernel(target: str) -> None:
    seeds = np.array([0, 1, -1, 2**62], np.int64)
    result = run(seeded_states, (1, 4), [np.zeros(4, xoroshiro128p_dtype), seeds], target)[0]
    for state, seed in zip(result, seeds.tolist()):
        assert state == states_of((seed, 0), 1)[0]


def test_many_states_are_each_a_jump_after_the_one_before() -> None:
    """Whatever number of them, and whichever is asked for first."""
    states = states_of((77, 0), 3000)
    for start, n in [(0, 1), (1, 1), (2, 5), (1023, 3), (2047, 953), (64, 2900)]:
        np.testing.assert_array_equal(states_of((77, start), n), states[start : start + n])


def test_a_start_may_be_far() -> None:
    states = states_of((3, 2**64 - 5), 4)
    for k in range(4):
        assert states_of((3, 2**64 - 5 + k), 1)[0] == states[k]


def test_states_fill_existing_arrays() -> None:
    expected = states_of((9, 2), 6)
    on_host = np.zeros(12, xoroshiro128p_dtype)[::2]
    random.init_xoroshiro128p_states(on_host, 9, subsequence_start=2)
    np.testing.assert_array_equal(on_host, expected)
    there = cuda.device_array(6, xoroshiro128p_dtype)
    random.init_xoroshiro128p_states(there, 9, 2, stream=0)
    np.testing.assert_array_equal(there.copy_to_host(), expected)
    assert len(create_xoroshiro128p_states(0, 1)) == 0


def test_states_that_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="subsequence_start must not be negative: -1"):
        create_xoroshiro128p_states(4, 1, -1)
    with pytest.raises(TypeError, match="one axis, not of float64 with 2"):
        random.init_xoroshiro128p_states(np.zeros((2, 2)), 1)


def test_a_million_states_are_made_by_few_calls_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each jump moves as many states as there are, so that their number doubles."""
    create_xoroshiro128p_states(1_000_000, 1)  # computes the matrices, which are cached
    moved = mock.Mock(wraps=states_module._multiply)
    monkeypatch.setattr(states_module, "_multiply", moved)
    create_xoroshiro128p_states(1_000_000, 1)
    assert moved.call_count <= 20 + 1_000_000 // states_module._CHUNK


def test_states_are_made_on_the_host() -> None:
    @kernel
    def k(out):
        out[0] = create_xoroshiro128p_states(1, 2)

    with pytest.raises(CompileError, match="this function is for the host"):
        k.inspect("ir", "void(float64[:])")


def test_the_type_of_states_is_usable_in_signatures(target: str) -> None:
    kernel_of_states = kernel(
        signature=(random.xoroshiro128p_type[:], "uint64[:, :]"), backend=target
    )(draw_integers.python)
    out = np.zeros((4, 5), np.uint64)
    kernel_of_states[1, 32](states_of((1, 0)), out)
    np.testing.assert_array_equal(out, recorded("next", (1, 0)))

"""Checks of indices, variables and arithmetic: where they are found, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, Finding, cuda, device, float32, int64, kernel
from support.targets import TARGETS

COMPILED = [t for t in TARGETS if t != "python"]
LINES = Path(__file__).read_text().splitlines()


def line_of(text: str) -> int:
    return 1 + next(n for n, line in enumerate(LINES) if line.strip().startswith(text))


def findings_of(launch: Callable[[], None]) -> tuple[Finding, ...]:
    with pytest.raises(CheckError) as caught:
        launch()
    return caught.value.findings


pytestmark = pytest.mark.parametrize("backend", COMPILED)
FLOATS = np.arange(10, dtype=np.float32)


def neighbours(a, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a[i] + a[i + 1]


def test_index_of_an_argument(backend: str) -> None:
    checked = kernel(neighbours, backend=backend, check=True)
    out = np.zeros(10, np.float32)
    (finding,) = findings_of(lambda: checked[2, 8](FLOATS, out, 10))
    assert (finding.kind, finding.array) == ("out-of-bounds", "a")
    assert (finding.index, finding.shape, finding.count) == ((10,), (10,), 1)
    assert (finding.thread, finding.block) == ((1, 0, 0), (1, 0, 0))
    assert (finding.line, finding.column) == (line_of("out[i] = a[i] + a[i + 1]"), 25)
    assert out[:9].tolist() == (FLOATS[1:] + FLOATS[:-1]).tolist()  # the other threads went on
    checked[2, 8](FLOATS, out, 9)


@device
def row_sum(row, count):
    total = row[0]
    for j in range(1, count):
        total += row[j]
    return total


def sums(a, out, count):
    i = cuda.grid(1)
    out[i] = row_sum(a[i], count)


def test_device_function(backend: str) -> None:
    checked = kernel(sums, backend=backend, check=True)
    rows, out = FLOATS.reshape(5, 2), np.zeros(10, np.float32)
    (finding,) = findings_of(lambda: checked[1, 5](rows, out, 3))
    assert (finding.array, finding.index, finding.shape) == ("row", (2,), (2,))
    assert finding.line == line_of("total += row[j]")
    assert [call.line for call in finding.calls] == [line_of("out[i] = row_sum(a[i], count)")]
    (finding,) = findings_of(lambda: checked[1, 7](rows, out, 2))
    assert (finding.array, finding.index, finding.count) == ("a", (5,), 2)
    assert out[:5].tolist() == [1, 5, 9, 13, 17]
    checked[1, 5](rows, out, 2)


def reshaped(a, count, out):
    rows = a.reshape(count, 2)
    for i in range(count):
        out[i] = rows[i, 1]


def test_reshaping_an_empty_array(backend: str) -> None:
    checked = kernel(reshaped, backend=backend, check=True)
    out = np.zeros(5, np.float32)
    checked[1, 1](FLOATS[:0], 0, out)
    checked[1, 1](FLOATS, 5, out)
    assert out.tolist() == FLOATS[1::2].tolist()


def through_an_index(values, at, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, at[i], values[i])


def test_atomic(backend: str) -> None:
    checked = kernel(through_an_index, backend=backend, check=True)
    out = np.zeros(4, np.float32)
    (finding,) = findings_of(lambda: checked[1, 5](FLOATS, np.array([0, -4, 4, 3, -5]), out))
    assert (finding.array, finding.count) == ("out", 2)
    assert out.tolist() == [1, 0, 0, 3]


def view(a, n, at):
    b = a[1:n]
    b[at] = 7
    a[::-1][at] = 8


@pytest.mark.parametrize(("at", "lines"), [(3, ""), (4, "b"), (-4, ""), (-5, "b"), (10, "ba")])
def test_view(at: int, lines: str, backend: str) -> None:
    checked = kernel(view, backend=backend, check=True)
    a = np.zeros(10, np.float32)
    if not lines:
        checked[1, 1](a, 5, at)
        assert a.tolist().count(7) == a.tolist().count(8) == 1
        return
    found = findings_of(lambda: checked[1, 1](a, 5, at))
    starts = {"b": "b[at] = 7", "a": "a[::-1][at] = 8"}
    assert [f.line for f in found] == [line_of(starts[name]) for name in lines]
    assert {f.index for f in found} == {(at,)}


def local_and_shared(out, i, j):
    tile = cuda.shared.array((4, 8), float32)
    mine = cuda.local.array(5, float32)
    tile[i, j] = 1
    mine[j] = 2
    out[0] = tile[i, j] + mine[j]


def test_local_and_shared_arrays(backend: str) -> None:
    checked = kernel(local_and_shared, backend=backend, check="memory")
    out = np.zeros(1, np.float32)
    checked[1, 1](out, 3, 4)
    assert out[0] == 3
    found = findings_of(lambda: checked[1, 1](out, 4, 7))
    assert [(f.array, f.index, f.shape) for f in found[:2]] == [
        ("tile", (4, 7), (4, 8)),
        ("mine", (7,), (5,)),
    ]


def many_axes(a, i):
    a[i, 0, 0, 0, 0, 0, 0, 0] = 1


def test_index_of_many_axes(backend: str) -> None:
    checked = kernel(many_axes, backend=backend, check=True)
    (finding,) = findings_of(lambda: checked[1, 1](np.zeros((2,) + (1,) * 7), 2))
    assert (finding.index, finding.shape) == ((2, *[0] * 7), (2, *[1] * 7))


def unassigned(a, n):
    i = cuda.grid(1)
    if i < n:
        x = 3
    a[i] = x
    for k in range(n - i):
        a[i] += k
    a[i] += k


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
def test_unassigned_variables(backend: str) -> None:
    checked = kernel(unassigned, backend=backend, check=True)
    found = findings_of(lambda: checked[1, 4](FLOATS.copy(), 3))
    assert [(f.kind, f.array, f.count) for f in found] == [
        ("uninitialized", "x", 1),
        ("uninitialized", "k", 1),
    ]
    checked[1, 3](FLOATS.copy(), 3)


def arithmetic(a, x, out):
    i = cuda.grid(1)
    out[i] = a[i] // (a[i] - 1) + (a[i] << a[i] * 30) + int(x[i] * 1e18)


def test_arithmetic(backend: str) -> None:
    checked = kernel(arithmetic, backend=backend, check=True)
    out = np.zeros(3, np.int64)
    numbers = np.array([1, 2, 3])
    found = findings_of(lambda: checked[1, 3](numbers, np.array([1, 9, 10.0]), out))
    assert [f.kind for f in found] == ["arithmetic"] * 3
    assert [f.message for f in found] == [
        "`//` by 0",
        "`<<` by 90, which is not within the type",
        "a float that `int64` does not represent",
    ]
    nan = np.full(1, np.nan)
    (finding,) = findings_of(lambda: checked[1, 1](np.array([2]), nan, out))
    assert finding.column == 61


def test_groups(backend: str) -> None:
    checked = kernel(arithmetic, backend=backend, check="memory,race")
    checked[1, 1](np.array([1]), np.zeros(1), np.zeros(1, np.int64))
    with pytest.raises(TypeError, match="check is True, or some of memory, race"):
        kernel(arithmetic, check="memroy")


def test_environment(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CHECK", "1")
    checked: Any = kernel(neighbours, backend=backend)
    with pytest.raises(CheckError, match="index 10 is out of bounds"):
        checked[1, 10](FLOATS, np.zeros(10, np.float32), 10)


@device
def put(a, i, value):
    a[i] = value


def test_a_function_writes_to_a_strided_array(backend: str) -> None:
    def residues(out):
        i = cuda.grid(1)
        put(out, i % 3, i % 3)

    out = np.zeros(16)[::2]
    kernel(residues, backend=backend, check=True)[2, 4](out)
    assert out.tolist() == [0, 1, 2, 0, 0, 0, 0, 0]


def test_an_index_is_an_element_of_a_view(backend: str) -> None:
    def gather(a, order, out):
        i = cuda.grid(1)
        backwards = order[::-1]
        out[i] = a[backwards[i] % 10]

    out = np.zeros(10, np.float32)
    kernel(gather, backend=backend, check=True)[2, 5](FLOATS, np.arange(10), out)
    assert out.tolist() == FLOATS[::-1].tolist()


@device
def next_index(i):
    return i + 1


@cuda.c_function(cuda="return a[i + 1];")
def element_after(a: float32[::1], i: int64) -> float32:
    return a[next_index(i)]


def calls_a_function_in_c(a, out):
    i = cuda.grid(1)
    out[i] = element_after(a, i)


def test_function_in_c_with_a_body_that_calls_others(backend: str) -> None:
    checked = kernel(calls_a_function_in_c, backend=backend, check=True)
    out = np.zeros(9, np.float32)
    checked[1, 9](FLOATS, out)
    assert out.tolist() == FLOATS[1:].tolist()


def chain(following, out):
    i = cuda.grid(1)
    k = i
    while k < 4:
        k = following[k] if k >= 0 else -1
        k = following[k - 100]
    out[i] = k


@device
def last_of(following, k):
    while following[k] != 7:
        k += 1
        if k > 100:
            k = 50
    return k


def chain_in_a_function(following, out):
    i = cuda.grid(1)
    while last_of(following, i) != 7:
        out[i] += 1


@pytest.mark.parametrize("function", [chain, chain_in_a_function])
def test_a_finding_makes_no_endless_loop(function: Callable[..., None], backend: str) -> None:
    checked = kernel(function, backend=backend, check=True)
    out = np.zeros(4, np.int64)
    found = findings_of(lambda: checked[1, 4](np.zeros(4, np.int64), out))
    assert {f.kind for f in found} == {"out-of-bounds"}
    assert all(f.count >= 1000 for f in found)


def test_threads_without_findings_go_on(backend: str) -> None:
    checked = kernel(many_steps, backend=backend, check=True)
    out = np.zeros(2, np.int64)
    (finding,) = findings_of(lambda: checked[1, 2](np.arange(4), out))
    assert finding.thread == (1, 0, 0)
    assert out[0] == 5000


def many_steps(a, out):
    t = cuda.threadIdx.x
    k = 0
    while k < 5000:
        k += 1 + 0 * a[t * 4 + k % 4]
    out[t] = k


def counter_without_an_atomic(a):
    a[0] += 1


def neighbour_in_one_statement(a):
    a[cuda.grid(1)] = a[0]


def neighbour_in_two_statements(a):
    left = a[0]
    a[cuda.grid(1)] = left


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (counter_without_an_atomic, "use cuda.atomic, or let only one thread access the element"),
        (
            neighbour_in_one_statement,
            "put cuda.syncthreads() between read and write, write to another array, "
            "or use cuda.atomic",
        ),
        (
            neighbour_in_two_statements,
            "put cuda.syncthreads() between the accesses, or use cuda.atomic for both",
        ),
    ],
)
def test_hint_of_a_race(function: Callable[..., None], hint: str, backend: str) -> None:
    with pytest.raises(CheckError) as caught:
        kernel(function, check=True, backend=backend)[1, 64](np.zeros(64, np.float32))
    assert hint in {
        finding.hint.replace("cuda.syncwarp() or ", "") for finding in caught.value.findings
    }

"""Kernels whose launches raise what a thread raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, CompileError, cuda, device, float32, int32, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run


class Mine(Exception):
    """An exception of a program's own, with two arguments."""

    def __init__(self, what: Any, how_many: int = 1) -> None:
        super().__init__(what, how_many)


class Strange(Exception):
    """One that takes no text."""

    def __init__(self, *, code: int = 3) -> None:
        super().__init__()
        self.code = code


READY = ValueError("one that is there already")


@device
def root(x, n):
    if x < 0:
        raise ValueError(f"no root of {x:.1f}", n)
    return x**0.5


@kernel(check=True)
def raises(a, mode):
    i = cuda.grid(1)
    if mode == 0:
        a[i] = root(a[i], i)
    elif mode == 1:
        assert a[i] > 0, f"{a[i]} is no size"
    elif mode == 2:
        assert a[i] >= 0.5
    elif mode == 3 and a[i] < 0:
        raise READY
    elif mode == 4 and a[i] < 0:
        raise Mine(a[i], how_many(i))
    elif mode == 5 and a[i] < 0:
        raise KeyError
    elif mode == 6 and a[i] < 0:
        raise Strange()
    cuda.syncthreads()
    a[i] += 100


@device
def how_many(i):
    return i * 10


def line_of(text: str) -> int:
    """Where the first line is that begins so."""
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(n for n, line in enumerate(lines) if line.strip().startswith(text))


KINDS = (ValueError, AssertionError, KeyError, Mine, Strange)
WHO = "in thread (1, 0, 0) of block (1, 0, 0)"


def reported(mode: int, target: str) -> BaseException:
    a = np.float32([4, 9, 16, 1, -1, 25])
    with pytest.raises(KINDS) as caught:
        run(raises, (2, 3), [a, mode], target)
    return caught.value


@pytest.mark.parametrize(
    ("mode", "kind", "text", "line"),
    [
        (0, ValueError, "no root of -1.0, ", 'raise ValueError(f"no root'),
        (1, AssertionError, "-1.0 is no size, ", "assert a[i] > 0, "),
        (2, AssertionError, "", "assert a[i] >= 0.5"),
        (3, ValueError, "one that is there already, ", "raise READY"),
        (5, KeyError, "", "raise KeyError"),
    ],
)
def test_a_launch_raises_it(
    mode: int, kind: type[Exception], text: str, line: str, target: str
) -> None:
    error = reported(mode, target)
    assert isinstance(error, kind)
    assert isinstance(error, CheckError)
    if target != "python":
        (finding,) = error.findings
        assert (finding.kind, finding.line, finding.count) == ("assertion", line_of(line), 1)
        assert (finding.thread, finding.block) == ((1, 0, 0), (1, 0, 0))
    assert error.args[0] == f"{__file__}:{line_of(line)}: {text}{WHO}"
    assert error.args[1:] == ((4,) if mode == 0 else ())


def test_arguments_that_are_no_text(target: str) -> None:
    error = reported(4, target)
    assert isinstance(error, Mine)
    assert error.args == (np.float32(-1), 40)
    assert type(error.args[0]) is np.float32
    assert WHO in error.__notes__[0]
    strange = reported(6, target)
    assert isinstance(strange, Strange)
    assert strange.code == 3
    assert WHO in strange.__notes__[0]


@pytest.mark.parametrize("backend", ["cpu", "cpu-resumable"])
def test_other_threads_go_on(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    @kernel(check=True, backend=backend)
    def half(a):
        i = cuda.grid(1)
        print("here", i)
        if i % 2:
            raise IndexError("odd", i)
        cuda.syncthreads()
        a[i] = 7

    a = np.zeros(4, np.int32)
    with pytest.raises(IndexError, match="odd"):
        half[1, 4](a)
    assert a.tolist() == [7, 0, 7, 0]
    assert sorted(capsys.readouterr().out.split("\n")) == ["", *(f"here {i}" for i in range(4))]
    with pytest.raises(IndexError):  # the log of the launch before is gone
        half[1, 2](a)
    half[1, 1](a)


def test_not_all_raise(target: str) -> None:
    (a, _) = run(raises, (2, 3), [np.float32([4, 9, 16, 1, 1, 25]), 0], target)
    assert a.tolist() == [102, 103, 104, 101, 101, 105]


def test_unchecked_kernels_are_as_before(target: str) -> None:
    @kernel
    def quiet(a):
        i = cuda.grid(1)
        assert a[i] > 100, "not evaluated"
        if a[i] < 0:
            raise ValueError
        a[i] = 1

    (a,) = run(quiet, (1, 2), [np.float32([4, -1])], target)
    assert a.tolist() == [1, -1]


def test_debug_of_numbas_decorator(target: str) -> None:
    @cuda.jit(device=True)
    def positive(x):
        if x < 0:
            raise ValueError("negative")
        return x

    @cuda.jit("void(float32[:])", debug=True, opt=False)
    def k(a):
        a[0] = positive(a[0])

    with pytest.raises(ValueError, match="negative"):
        run(k, (1, 1), [np.float32([-1])], target)


def test_exceptions_that_can_be_raised() -> None:
    @kernel(check=True)
    def of_an_array(a):
        raise ValueError(a)

    @kernel(check=True)
    def of_none(a):
        raise a[0]

    with pytest.raises(CompileError, match="print its elements"):
        of_an_array.inspect("c", (int32[:],))
    with pytest.raises(CompileError, match="this is not an exception"):
        of_none.inspect("c", (int32[:],))


def test_compilers_take_the_text() -> None:
    types = (float32[::1], int32)
    assert check_warnings(raises.inspect("c", types)) == ""
    text = raises.inspect("cuda", types)
    assert "ValueError" in text
    assert nvrtc.compile(text, "raises", "sm_90", cache=False).log.strip("\0\n ") == ""
    assert 'print "raise KeyError()' in raises.inspect("ir", types)


PAIRS = ((1, 2), (3, 4), (5, 6))


@pytest.mark.parametrize("index", [-4, -3, 0, 2, 3, 2**40])
def test_a_computed_index_of_a_tuple(index: int, target: str) -> None:
    @kernel(check=True, backend=target)
    def indexed(a, n, out):
        i = cuda.grid(1)
        if i == 1:
            out[i] = PAIRS[n][i] + a.shape[n % 2]

    out = np.zeros(2, np.int64)
    if -3 <= index < 3:
        indexed[1, 2](np.zeros((4, 5)), index, out)
        assert out[1] == PAIRS[index][1] + (4, 5)[index % 2]
        return
    with pytest.raises(IndexError, match="tuple index out of range"):
        indexed[1, 2](np.zeros((4, 5)), index, out)
    assert out.tolist() == [0, 0]

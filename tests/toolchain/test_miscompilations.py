"""Miscompilations are detected once per compiler and avoided, by flags or in the generated C."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.toolchain.cc import build, cc, miscompilations
from pycu2c.toolchain.cc.discovery import find_compiler
from pycu2c.toolchain.cc.miscompilations import MISCOMPILATIONS, Miscompilation
from support.c_compilers import CROSS, compiler, names
from support.launching import run

TEXT = "double rounded(double x) { return (double)(float)x; }\n"
TEXTS = "".join(m.check for m in MISCOMPILATIONS)
NATIVE = [name for name in names() if name not in CROSS]
ALWAYS_FOUND = Miscompilation(
    "always", "int always(const double *a, double *out) { return a != out; }\n", ("-DFOUND",), bool
)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    miscompilations._find_miscompilations.cache_clear()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled."""
    texts: list[str] = []
    real = build.compile_job

    def spy(job: build.CcJob) -> tuple[bytes, str]:
        texts.append(job.text)
        return real(job)

    monkeypatch.setattr(build, "compile_job", spy)
    return texts


@kernel
def exchange_in_shared_memory(a, out):
    t = cuda.shared.array(2, np.float32)
    x = cuda.threadIdx.x
    t[x] = a[x]
    cuda.syncthreads()
    out[x] = t[1 - x]


@kernel
def exchange_pairs(a, out):
    i = 2 * cuda.grid(1)
    first, second = np.float32(a[i]), np.float32(a[i + 1])
    out[i], out[i + 1] = second, first


@pytest.mark.parametrize("k", [exchange_in_shared_memory, exchange_pairs], ids=lambda k: k.name)
def test_numbers_are_rounded(k: object, target: str) -> None:
    a = np.array([0.1, 0.2])
    threads = 2 if k is exchange_in_shared_memory else 1
    _, out = run(k, (1, threads), (a, np.zeros(2)), target)
    assert out.tolist() == a[::-1].astype(np.float32).tolist()


@pytest.mark.parametrize("fmad", [True, False])
@pytest.mark.parametrize("name", NATIVE)
def test_the_flags_avoid_the_faults(name: str, fmad: bool) -> None:
    flags = cc.general_flags(replace(DEFAULT_OPTIONS, fmad=fmad), compiler(name))
    found = miscompilations._run_checks(compiler(name), flags, TEXTS).split()
    avoiding = [flag for m in MISCOMPILATIONS if m.name in found for flag in m.flags]
    assert miscompilations._run_checks(compiler(name), (*flags, *avoiding), TEXTS) == ""


def test_the_checks_run_once_for_all_texts_that_may_be_affected(built: list[str]) -> None:
    cc.compile("int one(void) { return 1; }\n", "one")
    assert len(built) == 1
    cc.compile(TEXT, "rounded")
    miscompilations._find_miscompilations.cache_clear()  # as in a new process
    cc.compile(TEXT.replace("rounded", "other"), "other")
    assert built.count(TEXTS) == 1
    assert len(built) == 4


def test_flags_are_added_for_faults_that_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = cc.flags_for("int x;", DEFAULT_OPTIONS)
    monkeypatch.setattr(miscompilations, "MISCOMPILATIONS", (ALWAYS_FOUND,))
    assert cc.flags_for("int x;", DEFAULT_OPTIONS) == (*flags, "-DFOUND")


def test_a_compiler_that_cannot_compile_the_checks_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "broken"
    path.write_text('#!/bin/sh\n[ "$1" = --version ]\n')
    path.chmod(0o700)
    monkeypatch.setenv("PYCU2C_CC", str(path))
    flags = cc.general_flags(DEFAULT_OPTIONS, find_compiler())
    assert cc.flags_for(TEXT, DEFAULT_OPTIONS) == flags


@device
def truncated(x):
    return int(x)


@kernel
def through_cast(x, out):
    i = cuda.grid(1)
    out[i] = int(x[i])


@kernel
def through_function(x, out):
    i = cuda.grid(1)
    out[i] = truncated(x[i])


@kernel
def through_variable(x, out):
    i = cuda.grid(1)
    whole = int(x[i])
    if whole > 1:
        whole -= 1
    out[i] = whole


@kernel
def through_array(x, out):
    i = cuda.grid(1)
    t = cuda.local.array(2, np.int32)
    t[0] = x[i]
    out[i] = t[0]


@kernel
def through_trunc(x, out):
    i = cuda.grid(1)
    out[i] = math.trunc(x[i])


@kernel
def through_floor(x, out):
    i = cuda.grid(1)
    out[i] = math.floor(x[i] + 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "k",
    [
        through_cast,
        through_function,
        through_variable,
        through_array,
        through_trunc,
        through_floor,
    ],
    ids=lambda k: k.name,
)
def test_integers_have_no_negative_zero(k: object, dtype: type, target: str) -> None:
    x = np.array([-0.0, -0.5, 0.0, 0.25] * 4, dtype)
    _, out = run(k, (2, 8), (x, np.ones(16, dtype)), target)
    assert out.tolist() == [0.0] * 16
    assert not np.signbit(out).any()


@kernel
def recurrence(n, rows):
    _, y = cuda.grid(2)
    x = 1
    for _ in range(20):
        x *= np.int32(n) * x
    rows[y] += x


@kernel
def square_recurrence(n, rows):
    _, y = cuda.grid(2)
    x = np.int32(1)
    for _ in range(20):
        x = x * x * np.int32(n)
    rows[y] += x


@kernel
def recurrence_of_a_variable(n, rows):
    _, y = cuda.grid(2)
    x = 1
    for _ in range(20):
        factor = np.int32(n) * x
        x *= factor
    rows[y] += x


@kernel
def recurrence_of_two_variables(n, rows):
    _, y = cuda.grid(2)
    x = np.int32(1)
    for _ in range(20):
        old = x
        factor = old * np.int32(n)
        x = factor * x
    rows[y] += x


@device
def multiple(n, x):
    if n == 0:
        return x
    return np.int32(n) * x


@kernel
def recurrence_of_a_result(n, rows):
    _, y = cuda.grid(2)
    x = np.int32(1)
    for _ in range(20):
        x *= multiple(n, x)
    rows[y] += x


RECURRENCES = [
    recurrence,
    square_recurrence,
    recurrence_of_a_variable,
    recurrence_of_two_variables,
    recurrence_of_a_result,
]


@pytest.mark.parametrize("k", RECURRENCES, ids=lambda k: k.name)
def test_a_recurrence_is_no_reduction(k: object, target: str) -> None:
    (_, rows) = run(k, ((1, 2), 1), (3, np.zeros((2, 5), np.int64)), target)
    x = 1
    for _ in range(20):
        x = 3 * x * x & 0xFFFFFFFF
    assert rows.tolist() == [[int(np.uint32(x).view(np.int32))] * 5] * 2


@kernel
def product(a, rows):
    _, y = cuda.grid(2)
    x = np.int32(1)
    for i in range(a.size):
        x *= a[i]
    rows[y] += x


@pytest.mark.parametrize("k", [*RECURRENCES, product], ids=lambda k: k.name)
def test_only_recurrences_are_found_in_the_text(k: kernel) -> None:
    signature = "int32[::1], int64[:, ::1]" if k is product else "int, int64[:, ::1]"
    (found,) = (m for m in MISCOMPILATIONS if m.name == "recurrence_as_reduction")
    assert bool(found.may_have(k.inspect("c", signature))) is (k is not product)

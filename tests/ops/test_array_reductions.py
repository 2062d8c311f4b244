"""Reductions of all elements of an array, and iteration over them: ``np.sum(a)``, ``a.flat``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, float32, float64, from_dtype, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run

DTYPES = (
    np.bool_, np.int8, np.int32, np.uint16, np.uint64, np.float16, np.float32, np.float64,
    np.complex64,
)  # fmt: skip
NAN, INF = np.nan, np.inf


@kernel
def sums(a, m, out):
    for k, values in enumerate((a, m, m[1])):
        out[0, k] = np.all(values)
        out[1, k] = np.any(values)
        out[2, k] = np.count_nonzero(values)
        out[3, k] = np.sum(values)
        out[4, k] = np.prod(values)
        out[5, k] = np.mean(values)
        out[6, k] = np.var(values)
        out[7, k] = np.std(values)


@kernel
def extremes(a, m, out):
    for k, values in enumerate((a, m, m[1])):
        out[0, k] = np.min(values)
        out[1, k] = np.max(values)
        out[2, k] = np.argmin(values)
        out[3, k] = np.argmax(values)
        out[4, k] = np.amax(values)


SUMS = (np.all, np.any, np.count_nonzero, np.sum, np.prod, np.mean, np.var, np.std)
EXTREMES = (np.min, np.max, np.argmin, np.argmax, np.amax)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_each_dtype(dtype: Any, target: str) -> None:
    values = np.random.default_rng(5).integers(0, 4, 48)
    cube = (values - (np.dtype(dtype).kind in "ifc")).astype(dtype).reshape(2, 4, 6)
    for matrix in (cube[0], cube[:, ::2, ::-3].T):
        arrays = cube.ravel()[5:11], matrix
        check(sums, SUMS, arrays, target)
        if np.dtype(dtype).kind != "c":
            check(extremes, EXTREMES, arrays, target)


def check(reducing: Any, functions: Any, arrays: Any, target: str) -> None:
    a, m = arrays
    expected = np.array([[function(x) for x in (a, m, m[1])] for function in functions])
    (_, _, result) = run(reducing, (1, 1), [a, m, np.zeros_like(expected)], target)
    tolerance = 1e-3 if a.dtype == np.float16 else 1e-6
    np.testing.assert_allclose(result, expected, rtol=tolerance)


WITH_NAN = (
    [1.0, 2.0, 0.0, -0.0, 1.0, -1.5],
    [NAN, -1.5, 2.5, NAN, 3.0, 1.0],
    [5.0, NAN, -1.5, NAN, INF, 2.0],
    [-1.5, 2.5, INF, -INF, 1.0, 2.0],
    [NAN, NAN, NAN, NAN, NAN, NAN],
)
FLOAT_FUNCTIONS = (
    *SUMS, *EXTREMES, np.ptp, np.amin, np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd,
    np.nanmin, np.nanmax,
)  # fmt: skip


@pytest.mark.parametrize("function", FLOAT_FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_with_nan(function: Any, target: str) -> None:
    @kernel
    def reduced(rows, out):
        for i, row in enumerate(rows):
            out[i] = function(row)

    rows = np.array(WITH_NAN)
    (_, result) = run(reduced, (1, 1), [rows, np.zeros(len(rows))], target)
    np.testing.assert_allclose(result, [function(row) for row in rows], rtol=1e-12)


@kernel
def methods(a, out):
    out[0] = a.sum() + a.prod() * 10 + a.min() * 100 + a.max() * 1000
    out[1] = a.mean() + a.var() * 10 + a.std(ddof=1) * 100
    out[2] = a.argmin() + a.argmax() * 10 + a.all() * 1000
    out[3] = np.sum(a, dtype=float64) / 3 + a.sum(dtype=np.int64)
    out[4] = a[0, 1:].sum() / 2


def test_methods_and_their_arguments(target: str) -> None:
    a = np.array([[3, -1, 4], [1, -5, 9]], np.int32)
    (_, result) = run(methods, (1, 1), [a, np.zeros(5)], target)
    expected = np.zeros(5)
    expected[0] = a.sum() + a.prod() * 10 + a.min() * 100 + a.max() * 1000
    expected[1] = a.mean() + a.var() * 10 + a.std(ddof=1) * 100
    expected[2] = a.argmin() + a.argmax() * 10 + a.all() * 1000
    expected[3:] = a.sum() / 3 + a.sum(), 1.5
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@kernel
def in_loops(m, view, out):
    k = 0
    for x in view.flat:
        out[k] = x
        k += 1
    for i, x in enumerate(m.flat):
        if x > 4:
            break
        out[k + i] = x * 2


def test_loops_over_all_elements(target: str) -> None:
    m = np.arange(12.0).reshape(3, 4)
    view = m.T[::2]
    (_, _, result) = run(in_loops, (1, 1), [m, view, np.zeros(12)], target)
    assert result.tolist() == [*view.flat, 0, 2, 4, 6, 8, 0]


@kernel
def of_selected(a, b, out):
    i = cuda.grid(1)
    chosen = a if i % 2 else b
    out[i] = np.sum(chosen) + chosen.max()


def test_an_array_that_is_selected_at_run_time(target: str) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(10.0, 18.0).reshape(2, 4)[:, ::2]
    (_, _, result) = run(of_selected, (1, 4), [a, b, np.zeros(4)], target)
    assert result.tolist() == [b.sum() + b.max(), a.sum() + a.max()] * 2


def test_empty_arrays(target: str) -> None:
    @kernel
    def of_nothing(a, out):
        out[0] = a.sum() + a.prod() * 10 + a.any() * 100 + a.all() * 1000
        out[1] = a.min() + a.argmax()

    (_, result) = run(of_nothing, (1, 1), [np.zeros((0, 3)), np.ones(2)], "cpu")
    assert result.tolist() == [1010, 0]


def test_cuda_text_compiles() -> None:
    @kernel
    def rows(m, out):
        i = cuda.grid(1)
        out[i] = m[i].sum() + np.nanstd(m) + np.argmin(m[:, 0])

    text = rows.inspect("cuda", (float32[:, :], float64[::1]))
    assert nvrtc.compile(text, "rows", "sm_90", cache=False).log.strip("\0\n ") == ""


WRONG = (
    (lambda a, x: a.sum(axis=0), "argument-count", "axis=0", "for row in a"),
    (lambda a, x: np.max(a, 0), "argument-count", "0", "for row in a"),
    (lambda a, x: a.max(initial=3), "argument-count", "initial=3", "for row in a"),
    (lambda a, x: np.max(x), "argument-type", "x", "max(x, y)"),
    (lambda a, x: np.sum((x, x)), "argument-type", "(x, x)", "pass an array"),
    (lambda a, x: np.sum(), "argument-count", "np.sum()", "np.sum(a)"),
)


@pytest.mark.parametrize(("function", "code", "marked", "hint"), WRONG)
def test_wrong_arguments(function: Any, code: str, marked: str, hint: str) -> None:
    reduced = device(function)

    @kernel
    def wrong(a, x, out):
        out[0] = reduced(a, x)

    with pytest.raises(CompileError) as raised:
        wrong.inspect("c", (float64[:, ::1], float64, float64[::1]))
    assert raised.value.code == code
    assert hint in str(raised.value)
    line, carets = re.findall(r"\| (.*)\n +\|( *\^+)", str(raised.value))[0]
    assert line[carets.index("^") - 1 : len(carets) - 1] == marked


def test_records_are_rejected() -> None:
    @kernel
    def of_records(a, out):
        out[0] = a.min()

    types = from_dtype(np.dtype([("x", "f4")]))[::1], float64[::1]
    with pytest.raises(CompileError, match=r"np.sum\(a.x\)"):
        of_records.inspect("c", types)

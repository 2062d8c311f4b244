"""``unroll_array_loops``: local arrays that counters of loops index are in registers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError, cuda
from support.kernels_from_text import module_from
from support.launching import run

HEAD = """
from pycu2c import cuda, device, float32, float64, kernel

@device
def clear(values):
    for n in range(values.size):
        values[n] = 0

@device
def put(values, at):
    values[at] = 1

@kernel(signature="float32[::1], float32[::1], int32")
def k(a, out, m):
    i = cuda.threadIdx.x
    t = cuda.local.array({shape}, float32)
    {body}
"""
FACTORIZE = """for n in range(64): t[n // 8, n % 8] = a[i + n]
    for row in range(8):
        for column in range(row, 8):
            for k in range(row):
                t[row, column] -= t[row, k] * t[k, column]
    for n in range(64): out[64 * i + n] = t[n // 8, n % 8]"""
LONG_BODY = """clear(t)
    for step in range(m):
        for n in range(100):
            x = a[step + n]
            for k in range(9):
                x = x * x - float32(k)
            last = 99 - n
            t[last] += x
    for n in range(100): out[100 * i + n] = t[n]"""

CASES = [("(8, 8)", FACTORIZE, 5), ("100", LONG_BODY, 3)]


def kernel_of(shape: str, body: str, folder: Path):
    return module_from(HEAD.format(shape=shape, body=body), folder).k


@pytest.mark.parametrize(("shape", "body", "unrolled"), CASES)
def test_the_array_is_in_registers(shape: str, body: str, unrolled: int, tmp_path: Path) -> None:
    k = kernel_of(shape, body, tmp_path)
    text = k.inspect("cuda")
    assert text.count("#pragma unroll\n") == unrolled
    assert not re.search(r"\b(LDL|STL)\b", k.inspect("sass", arch="sm_90a"))
    assert not re.search("#pragma unroll", k.inspect("c"))


OBSTACLES = [
    ("128", "t[a.size % 4] = 1; out[i] = t[0]", "a.size % 4", "this index is computed"),
    ("128", "for n in range(m): t[n] = 1\n    out[i] = t[0]", "n", "number of iterations"),
    ("(32, 9)", "t[0, 0] = 1; out[i] = t[0, 0]", "", "this requires 288 registers"),
    ("16", "put(t, m); out[i] = t[0]", "at", "this index is computed"),
    (
        "16",
        "for j in range(100):\n        for n in range(16): t[(n + j) % 16] = j\n    out[i] = t[0]",
        "",
        "too many copies",
    ),
]


@pytest.mark.parametrize(("shape", "body", "index", "reason"), OBSTACLES)
def test_an_array_in_memory_has_a_reason(
    shape: str, body: str, index: str, reason: str, tmp_path: Path
) -> None:
    k = kernel_of(shape, body, tmp_path)
    notes = [n for n in k.launcher.compiler.notes(k.signature) if n.kind == "local-array"]
    (label,) = notes[0].labels
    assert reason in label.text
    line = Path(label.span.file).read_text().splitlines()[label.span.line - 1]
    assert index in line[label.span.column : label.span.end_column]
    assert "#pragma unroll" not in k.inspect("cuda")


REQUESTS = [
    ("for n in cuda.unroll(range(m)): out[i] += a[n]", "#pragma unroll\n"),
    ("for n in cuda.unroll(range(m), 4): out[i] += a[n]", "#pragma unroll 4\n"),
    ("for x in cuda.unroll(a, factor=2): out[i] += x", "#pragma unroll 2\n"),
    ("for n in cuda.unroll(range(16), 1): t[n] = 1\n    out[i] = t[0]", "#pragma unroll 1\n"),
]


@pytest.mark.parametrize(("body", "pragma"), REQUESTS)
def test_a_request_for_unrolling(body: str, pragma: str, tmp_path: Path) -> None:
    k = kernel_of("16", body, tmp_path)
    assert k.inspect("cuda").count("#pragma unroll") == k.inspect("cuda").count(pragma) == 1
    assert "#pragma unroll" not in k.inspect("c")


def test_a_requested_loop_runs(target: str, tmp_path: Path) -> None:
    k = kernel_of("1", "for n in cuda.unroll(range(1, m), 3): out[i] += a[n]", tmp_path)
    a = np.arange(8, dtype=np.float32)
    _, out, _ = run(k, (1, 4), (a, np.zeros(4, np.float32), 8), target)
    assert out.tolist() == [28] * 4
    assert cuda.unroll(range(4), 2) == range(4)


@pytest.mark.parametrize(
    ("factor", "reason"), [("m", "this factor is computed"), ("-1", "the factor is -1")]
)
def test_a_factor_is_a_constant(factor: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=reason):
        kernel_of("1", f"for n in cuda.unroll(range(m), {factor}): out[n] = 1", tmp_path)

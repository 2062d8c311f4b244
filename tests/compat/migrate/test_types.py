"""Differences of types that ``pycu2c migrate`` reports, and the types that numba infers."""

from __future__ import annotations

import importlib
import operator
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from pycu2c.base.types import to_strong
from pycu2c.cli.main import main
from pycu2c.compat.migrate.migrate_file import MigratedFile, migrate_file
from pycu2c.declarations.signatures import parse_signature
from support.paths import ROOT

FUNCTIONS = {
    "add": operator.add, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "pow": operator.pow,
}  # fmt: skip


def test_the_table_of_types_has_numbas_types(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    context = pytest.importorskip("numba.core.registry").cpu_target.typing_context
    context.refresh()
    monkeypatch.syspath_prepend(ROOT / "docs")
    for text, theirs, op, *operands in importlib.import_module("generators.migrating").TYPES:
        function = FUNCTIONS[op.name] if op else min
        arguments = tuple(getattr(numba.types, str(to_strong(t))) for t in operands)
        result = context.resolve_function_type(function, arguments, {})
        assert str(result.return_type) == theirs, text


# ---- of kernels: behind `#`, what is remarked of a line, and the text that it is about -----------

TYPED = """
import math
import numpy as np
from numba import cuda, float32, float64, int32, njit
PI, STRONG, SIZES = 3.14, np.float32(0.1), (2, 3)

@cuda.jit(device=True)
def scaled(x):
    return x * 0.1 + 1  # float64: x * 0.1

@njit
def halved(x):
    return x * 0.5  # float64: x * 0.5

@cuda.jit("void(f4[:], f4[:], i4, u1[:], f4, f8[:])")
def floats(a, out, n, b, h, wide):
    i = cuda.grid(1)
    out[i] = a[i] * 2.0
    out[i] = a[i] * 2
    out[i] = a[i] * 0.1  # float64: a[i] * 0.1
    out[i] = a[i] * PI  # float64: a[i] * PI
    out[i] = a[i] * STRONG * float32(0.1) * a[0]
    out[i] = a[i] * h - 0.5 * h  # float64: 0.5 * h
    out[i] = scaled(a[i]) + halved(h)
    s = 0.0  # float64: 0.0
    t = float64(0.0)
    u = float32(0.0)
    for j in range(n):
        s += a[j]
        t += a[j]
        u += a[j] * a[j]
    out[i] = s + t + u
    out[i] = math.sqrt(n) * h  # float64: math.sqrt(n) * h
    out[i] = i * h + h  # float64: i * h
    out[i] = h ** 2 * math.sin(h)
    wide[i] = wide[i] * 0.1 + n * 0.1 + n / 3
    if wide[i] > 0 and wide[i] // 2 > n:
        wide[i] = 2 if n else 3
    wide[i] = a[i] * 2.0  # float64: a[i] * 2.0
    if a[i] < 0.5 and a[i] < 0.1:
        out[i] = max(a[i], 0.0)
        out[i] = max(a[i], 0.1)  # float64: max(a[i], 0.1)
        out[i] = a[i] if n else 0
    cuda.atomic.add(out, i, a[i] * 2.0)
    out[i] -= math.pi  # float64: out[i] -= math.pi

@cuda.jit("void(i4[:], u1[:], i4, i2, u8, i8)")
def integers(out, b, n, m, large, signed):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    out[i] = b[i] * n + 1 - m
    b[i] = b[i] + b[i] * 2 ^ ~b[i]
    b[i] = (b[i] + b[i]) // 2  # small-integers: b[i] + b[i]
    b[i] = (int32(b[i]) + b[i]) // 2  # int32: int32(b[i]) + b[i]
    out[i] = b[i] + 1  # small-integers: b[i] + 1
    out[i * n] = 1  # int32: i * n
    if b[i] - 1 < 0:  # small-integers: b[i] - 1
        out[i] = m * m  # small-integers: m * m
    out[i] = float(n + 1)  # int32: n + 1
    out[i] = (large - 1) >> 3
    out[i] = (large - 1) * large
    if large - 1 < 0:
        out[i] = large + signed
    for k in range(n):
        out[k] = k
    k = int32(0)
    k += 1  # int32: k += 1
    out[k] = min(n, m)
    cuda.atomic.add(out, 0, b[i] + n)
"""

UNTYPED = """
import math
from numba import cuda
RATE, NAMES = 0.1, (1, 2)

@cuda.jit
def k(a, out, n, x):
    i = cuda.grid(1)
    count = n // 2 * 4
    out[i] = a[i] * 2.0
    out[i] = a[i] * 2
    out[i] = a[i] * RATE  # float32: a[i] * RATE
    s = 0.0  # float32: 0.0
    for j in range(n):
        s += a[j + 1] * a[j * 2] * NAMES[1]
    out[i] = s + 0.5 * x  # float32: 0.5 * x
    out[i] = (a[i] + 1) / (4 - a[2])  # float32: a[i] + 1  # float32: 4 - a[2]
    if x < 0.5 and x < 0.1:
        x += 1.5  # float32: x += 1.5
        out[i] += 1.5
    total = 0  # float32: 0
    for j in range(n):
        total += a[j]
        count += j
    out[i] = i * 0.25 * a.shape[0]
    out[i] = a[i] ** 2 + math.sqrt(4.0) * 3.0  # float32: a[i] ** 2 + math.sqrt(4.0) * 3.0
"""


def looked_at(text: str, folder: Path, **kernels: str) -> MigratedFile:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text))
    return migrate_file(path, {name: [parse_signature(t)] for name, t in kernels.items()})


def expected_in(text: str) -> list[str]:
    lines = enumerate(text.splitlines(), start=1)
    parts = [(number, part) for number, line in lines for part in line.split("  # ")[1:]]
    return sorted(f"{number} {part}" for number, part in parts)


def reported_in(result: MigratedFile) -> list[str]:
    raised = []
    for remark in result.remarks:
        span = remark.labels[0].span
        line = result.old.lines[span.line - 1]
        raised.append(f"{span.line} {remark.kind.name}: {line[span.column : span.end_column]}")
    return sorted(raised)


@pytest.mark.parametrize("text", [TYPED, UNTYPED], ids=["typed", "untyped"])
def test_calls_with_a_difference(text: str, tmp_path: Path) -> None:
    result = [t for t in reported_in(looked_at(text, tmp_path)) if " numba: " not in t]
    assert result == expected_in(text)


def test_a_kernel_whose_types_cannot_be_guessed(tmp_path: Path) -> None:
    text = """
    from numba import cuda
    @cuda.jit
    def k(points, out):
        out[0] = points[0].x * 0.1
    """
    (remark,) = (r for r in looked_at(text, tmp_path).remarks if r.kind.name == "float32")
    assert "the types are unknown" in str(remark)


@pytest.mark.parametrize("made", ["cuda.jit(types)(f)", "cuda.jit(f)", "cuda.jit(f, debug=True)"])
def test_kernels_without_a_decorator(made: str, tmp_path: Path) -> None:
    text = f"""
    from numba import cuda
    types = "void(f4[:], i4)"
    def f(a, n):
        a[n * n] = a[0] * 0.1
    k = {made}
    """
    both = ["5 float64: a[0] * 0.1", "5 int32: n * n"]
    expected = both if "types" in made else ["5 float32: a[0] * 0.1"]
    assert reported_in(looked_at(text, tmp_path)) == expected
    other = "def g():\n        def f(a): yield\n"
    assert reported_in(looked_at(text + other, tmp_path)) == []  # which one is meant is not known


def test_types_that_are_given(tmp_path: Path) -> None:
    """Of float64, nothing differs; of float32 it is known what does."""
    types = "f8[:], f8[:], i8, f8"
    assert reported_in(looked_at(UNTYPED, tmp_path, k=types)) == []
    result = reported_in(looked_at(UNTYPED, tmp_path, k="f4[:], f4[:], i4, f4"))
    assert "12 float64: a[i] * RATE" in result
    words = ["migrate", str(tmp_path / "program.py"), "--types", f"k={types}"]
    done = CliRunner().invoke(main, words)
    assert "0 places by hand, 0 places with other types" in done.stderr

"""``pycu2c explain``: each cost is reported with its cause, and its hint removes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pycu2c.cli.main import main
from pycu2c.declarations.signatures import parse_signature
from support.kernels_from_text import module_from
from support.paths import ROOT

HEAD = """
import cmath
import math
import numpy as np
from pycu2c import complex64, cuda, float32, float64, kernel

"""

F32, F64, C64 = "float32[::1]", "float64[::1]", "complex64[::1]"
I32, I64, U32, ROWS = "int32[::1]", "int64[::1]", "uint32[::1]", "float32[:, ::1]"
SUM = "t = cuda.shared.array(4, {}); t[0] = i; a[i] = t[0] + i"
LOCAL = "t = cuda.local.array(4, float32); t[{}] = 1; a[i] = t[0]"

TILE = "t = cuda.shared.array({}, float32); t[{}] = 1; a[i] = t[0, 0]"

# kind, types, a kernel with the cost, the text of its cause; types and kernel without it
CASES = [
    ("float64", F32, "a[i] = math.sin(0.1 * i)", "0.1", F32, "a[i] = math.sin(float32(0.1) * i)"),
    ("float64", F32, "a[i] = np.float64(2) * a[i]", "2", F32, "a[i] = np.float32(2) * a[i]"),
    ("float64", F32, "a[i] = i / 2", "i / 2", F32, "a[i] = float32(i) / 2"),
    ("float64", F64, "a[i] = a[i] * 2", "a[i]", F64, "a[i] = float32(a[i]) * 2"),
    ("float64", F32, "a[i] = math.sqrt(i)", "math.sqrt(i)", F32, "a[i] = math.sqrt(float32(i))"),
    ("float64", I32, "a[i] = a[i] * 0.5", "a[i]", I32, "a[i] = float32(a[i]) * 0.5"),
    ("float64", U32, "a[i] = a[i] * float32(2)", "a[i]", U32, "a[i] = float32(a[i]) * float32(2)"),
    ("float64", F32, "a[i] = float(i) * i", "float(i)", F32, "a[i] = float32(i) * i"),
    (
        "float64", F32, "a[i] = (i + 0.5) * i - 0.5", "0.5",
        F32, "a[i] = (i + float32(0.5)) * i - 0.5",
    ),
    ("float64", C64, "a[i] = cmath.exp(2j * i)", "2j", C64, "a[i] = cmath.exp(complex64(2j) * i)"),
    ("float64", F32, SUM.format("float64"), "t[0]", F32, SUM.format("float32")),
    (
        "floor", I32, "v = a[i]; a[i] = v // 3", "v // 3",
        I32, "v = a[i]\n    if v >= 0: a[i] = v // 3",
    ),
    (
        "floor", I32, "a[i] = a[(i - 1) % len(a)]", "(i - 1) % len(a)",
        I32, "a[i] = a[(i - 1 + len(a)) % len(a)]",
    ),
    (
        "floor", U32, "v = a[0]; a[i] = 7 % v", "7 % v",
        U32, "v = a[0]\n    if v > 0: a[i] = 7 % v",
    ),
    ("floor", F32, "a[i] = a[i] // 3", "a[i] // 3", F32, "a[i] = np.floor(a[i] / 3)"),
    ("wraparound", F32, "a[i] = a[i - 3]", "i - 3", F32, "if i >= 3: a[i] = a[i - 3]"),
    (
        "wraparound", F32, "j = i - 3; a[j] = a[j] + 1", "j",
        F32, "j = i - 3\n    if j >= 0: a[j] = a[j] + 1",
    ),
    (
        "wraparound", I32, "a[i] = a[a[i]]", "a[i]",
        I32, "at = a[i]\n    if at >= 0: a[i] = a[at]",
    ),
    ("index64", I64, "a[i] = a[a[i] + 2]", "a[i] + 2", I32, "a[i] = a[a[i] + 2]"),
    ("stride", F32, "a[i * 4] = 1", "a[i * 4]", F32, "a[i] = 1"),
    ("stride", F32, "a[i * len(a)] = 1", "a[i * len(a)]", F32, "a[i + len(a)] = 1"),
    ("stride", ROWS, "a[i, 0] = 1", "a[i, 0]", ROWS, "a[0, i] = 1"),
    (
        "stride", ROWS, "x, y = cuda.grid(2); a[x, y] = 1", "a[x, y]",
        ROWS, "x, y = cuda.grid(2); a[y, x] = 1",
    ),
    ("stride", ROWS, "a[min(i, 9), 2] = 1", "a[min(i, 9), 2]", ROWS, "a[2, min(i, 9)] = 1"),
    (
        "stride", ROWS, "for k in range(i, 99, cuda.gridsize(1)): a[k, 0] = 1", "a[k, 0]",
        ROWS, "for k in range(i, 99, cuda.gridsize(1)): a[0, k] = 1",
    ),
    ("bank", F32, TILE.format("(32, 32)", "i, 0"), "t[i, 0]", F32, TILE.format("(32, 33)", "i, 0")),
    (
        "bank", F32, TILE.format("(8, 32)", "1, 2 * i"), "t[1, 2 * i]",
        F32, TILE.format("(8, 32)", "1, i"),
    ),
    ("local-array", I32, LOCAL.format("i & 3"), "i & 3", I32, LOCAL.format("3")),
    ("division", F32, "a[i] = a[i] / 3.0", "a[i] / 3.0", F32, "a[i] = a[i] * (1 / 3.0)"),
    ("division", F32, "c = float32(5); a[i] = a[i] / c", "a[i] / c", F32, "a[i] = a[i] / 4"),
    ("division", F64, "a[i] = a[i] / math.pi", "a[i] / math.pi", F64, "a[i] = math.pi / a[i]"),
    (
        "division", F32, "c = a[0]\n    for k in range(9): a[k] = a[k] / c", "a[k] / c",
        F32, "c = 1 / a[0]\n    for k in range(9): a[k] = a[k] * c",
    ),
    (
        "division", F32, "c = a[0]\n    while a[i] / (c + 1) > 1: i += 1", "a[i] / (c + 1)",
        F32, "c = a[0]\n    while (c + 1) / a[i] > 1: i += 1",
    ),
]  # fmt: skip


def kernel_of(body: str, signature: str, folder: Path):
    text = f"{HEAD}@kernel(signature='{signature}')\ndef k(a):\n    i = cuda.grid(1)\n    {body}\n"
    return module_from(text, folder).k


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[2]}")
def test_a_cost_is_reported_and_its_hint_removes_it(case: tuple[str, ...], tmp_path: Path) -> None:
    kind, signature, body, place, cured_types, cured = case
    costly = kernel_of(body, signature, tmp_path)
    notes = [n for n in costly.launcher.compiler.notes(costly.signature) if n.kind == kind]
    assert notes
    span = notes[0].labels[-1].span
    line = Path(span.file).read_text().splitlines()[span.line - 1]
    assert line[span.column : span.end_column] == place
    assert notes[0].hint
    better = kernel_of(cured, cured_types, tmp_path)
    assert kind not in {n.kind for n in better.launcher.compiler.notes(better.signature)}


def test_fast_math_divides_by_multiplication(tmp_path: Path) -> None:
    """Under ``fastmath``, the CUDA compiler multiplies by the reciprocal."""
    text = f"{HEAD}@kernel(signature='{F32}', fastmath=True)\ndef k(a):\n    a[0] = a[1] / 3\n"
    k = module_from(text, tmp_path).k
    assert k.launcher.compiler.notes(k.signature) == []


def test_nothing_to_report(tmp_path: Path) -> None:
    plain = kernel_of("a[i] = a[i] * 2.0 + 1", "float32[::1]", tmp_path)
    assert (
        plain.explain()
        == "nothing was found that costs more than it would in hand-written CUDA C\n"
    )


CLEAN = [
    "activations", "bitonic_sort", "black_scholes", "block_max", "blur", "collatz", "dot_product",
    "flat_index", "flip", "grid_stride", "histogram_shared", "mandelbrot", "matmul_naive",
    "matmul_tiled", "monte_carlo", "primes", "reduce_sum", "saxpy", "scan", "sobel", "stencil5",
    "transpose",
]  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_no_false_alarm(name: str, tmp_path: Path) -> None:
    """Kernels with bare literals that are what a hand would write."""
    path = ROOT / "golden" / name / "kernel.py"
    module = module_from(path.read_text(), tmp_path)
    (k,) = [v for v in vars(module).values() if hasattr(v, "launcher")]
    for signature in module.SIGNATURES.values():
        if "float64" not in str(signature):
            assert [n.kind for n in k.launcher.compiler.notes(parse_signature(signature))] == []


NOTHING = [
    (F32, "f = float32(2) * i; a[i] = f + 1"),
    (F32, "a[i] = 2 * 0.5 + a[i]"),
    (ROWS, "a[1, i] = a[0, i] + a[2, i + 1]"),
    (ROWS, "x, y = cuda.grid(2); a[y, x] = a[y, min(x + 1, 7)]"),
    (F32, "t = cuda.shared.array((4, 32), float32); t[0, i] = 1; a[i] = t[0, 3]"),
    (F32, "t = cuda.shared.array(64, float32); t[i + 32] = 1\n    if i < 64: a[i] = t[63 - i]"),
    (I32, "a[i] = (a[i] - 3) // 4 + a[i] % 8"),
    (F32, "for k in range(9): a[k] = a[k] / a[0]"),
    (F32, "c = a[0]\n    for k in range(9): c = a[k] / c\n    a[0] = c"),
    (F32, "c = a[0]; d = a[1]\n    for k in range(9): a[k] = d / c"),
    (F32, "a[i] = a[i] / (a[0] + 3)"),
    (I32, "s = 0\n    for v in a: s += 1 if v > 5 else 0\n    a[0] = s"),
    (I32, "s = 0\n    for k in range(9): s += a[k]\n    a[0] = s"),
    (I32, "cuda.atomic.add(a, 0, 1)"),
    (U32, "s = np.uint32(0)\n    for v in a: s = s * 31 + v\n    a[0] = s"),
]


@pytest.mark.parametrize(("signature", "body"), NOTHING)
def test_no_cost_is_reported(signature: str, body: str, tmp_path: Path) -> None:
    k = kernel_of(body, signature, tmp_path)
    assert [(n.kind, n.labels[-1].text) for n in k.launcher.compiler.notes(k.signature)] == []


ONCE = [
    (F64, "a[i] = a[i] * 2\n    a[i] = a[i] + a[0]\n    v = a[i] * 3 < 1", "so are 2 more lines"),
    (F64, "s = 0.0\n    for v in a: s = s + v\n    a[i] = s * 2", "so is 1 more line"),
    (ROWS, "a[i, 0] = a[i, 1]\n    a[i, 2] = a[i, 3] + a[i, 4]", "so is 1 more line"),
]


@pytest.mark.parametrize(("signature", "body", "more"), ONCE)
def test_a_cause_is_reported_once(signature: str, body: str, more: str, tmp_path: Path) -> None:
    k = kernel_of(body, signature, tmp_path)
    (note,) = k.launcher.compiler.notes(k.signature)
    assert note.labels[0].text.endswith(more)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "costly.py"
    head = f"{HEAD}@kernel(signature='float32[::1]')\n"
    path.write_text(f"{head}def k(a):\n    i = cuda.grid(1)\n    a[i] = i / 2\n")
    result = CliRunner().invoke(main, ["explain", str(path)])
    assert result.exit_code == 0
    assert "cost[float64]" in result.output
    assert "1 in all: 1 float64" in result.output
    listed = CliRunner().invoke(main, ["explain", f"{path}:k", "--format", "json"])
    assert [note["kind"] for note in json.loads(listed.output)] == ["float64"]


def test_the_command_asks_for_types(tmp_path: Path) -> None:
    path = tmp_path / "untyped.py"
    path.write_text(f"{HEAD}@kernel\ndef k(a):\n    a[0] = 1\n")
    result = CliRunner().invoke(main, ["explain", str(path)])
    assert result.exit_code == 1
    assert "--signature" in result.output


def test_a_number_that_is_made_a_float64(tmp_path: Path) -> None:
    """To write float32(...) around the number that is converted would change nothing."""
    k = kernel_of("a[i] = np.float64(2) * a[i]", F32, tmp_path)
    (note,) = k.launcher.compiler.notes(k.signature)
    assert note.hint == "write float32(...) in the place of float64(...), or around a global"

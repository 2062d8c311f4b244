"""Errors that need types: each marked line has just this error, under just these characters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pycu2c import CompileError
from support.kernels_from_text import module_from

HEAD = """
import math
import numpy as np
from pycu2c import cuda, device, kernel, float32, int32, uint8

TABLE = np.zeros(3)
NAMES = {"a": 1}
N = 4

def ordinary(x):
    return x

@device
def half(x):
    return x / 2

@device
def nothing(a):
    a[0] = 1

@device
def sometimes(x):
    if x > 0:
        return 1

@device
def itself(x):
    return itself(x - 1)

@kernel(signature="float32[::1], int32[:, :], int, float")
def k(a, b, n, x):
    i = cuda.grid(1)
"""

CASES = """
a[x] = 1  # E[index-type]: x
a[1.0] = 1  # E[index-type]: 1.0
a[True] = 1  # E[index-type]: True
y = a.dtype.missing  # E[name]: a.dtype.missing
y = a.dtype + 1  # E[type-needed]: a.dtype
y = np.str_("x")  # E[call]: np.str_
y = cuda.shfl_sync(-1, n, 0, 5)  # E[argument-type]: 5
y = cuda.shfl_down_sync(-1, n, 1, width=0)  # E[argument-type]: 0
a[i, 0] = 1  # E[index-count]: a[i, 0]
y = b[i]
y = b + 1  # E[type-needed]: b
y = a.T
y = a.U  # E[subset]: a.U
y = a.cumsum()  # E[subset]: a.cumsum
y = x & 1  # E[operand-type]: x
y = ~x  # E[operand-type]: x
y = x << 2  # E[operand-type]: x
y = uint8(300)  # E[constant-range]: 300
y = int32(2**31)  # E[constant-range]: 2**31
y = b[0, 0] + 2**40  # E[constant-range]: 2**40
y = 2**70  # E[constant-range]: 2**70
y = -2**63 - 1  # E[constant-range]: -2**63 - 1
y = (2**64 or n) >> 60  # E[constant-range]: 2**64
y = n + (2**64 if n > 1 else 1)  # E[constant-range]: 2**64
y = (2**63 - 1) + (2**70 >> 60)
y = a[2**63]  # E[constant-range]: 2**63
y = len(a[: -2**70])  # E[constant-range]: -2**70
for j in range(2**63): pass  # E[constant-range]: 2**63
for j in range(0, n, -2**65): pass  # E[constant-range]: -2**65
for j, y in enumerate(a, 2**64 - 1): pass  # E[constant-range]: 2**64 - 1
y = range(2**64)[n]  # E[constant-needed]: range(2**64)
y = sum(range(2**64))  # E[constant-needed]: range(2**64)
y = (1, 2) * 2**40  # E[constant-needed]: (1, 2) * 2**40
y = len((1,) * 2**62)  # E[constant-needed]: (1,) * 2**62
y = missing + 1  # E[name]: missing
y = grid + 1  # E[name]: grid
y = math.sqroot(x)  # E[name]: math.sqroot
y = cuda.treadIdx.x  # E[name]: cuda.treadIdx
y = ordinary(n)  # E[call]: ordinary
y = np.linalg.norm(a)  # E[call]: np.linalg.norm
y = half(x, n)  # E[argument-count]: n
y = half(z=x)  # E[argument-count]: z=x
y = nothing(a) + 1  # E[type-needed]: nothing(a)
y = sometimes(n)  # E[return-type]: def sometimes(x):
y = itself(n)  # E[recursion]: def itself(x)
y = TABLE[0]
TABLE[0] = 1  # E[assignment-target]: TABLE[0]
t = [1, 2]; t[0] = 5  # E[assignment-target]: t
t = [1, 2]; t[i] += 5  # E[assignment-target]: t
t = (1, (2, 3)); y = t[i]  # E[constant-needed]: i
y = (1, 2) < 3  # E[type-needed]: (1, 2)
y = NAMES  # ok: only a name, never used
y = len(n)  # E[argument-type]: n
y = min(n)  # E[ok]
y = abs(a)  # E[type-needed]: a
y = cuda.grid  # ok: bound to a name
y = cuda.grid(4)  # E[argument-type]: 4
y = cuda.grid(n)  # E[constant-needed]: n
s = cuda.shared.array(n, float32)  # E[shape]: n
s = cuda.shared.array((4, 0), float32)  # E[shape]: 0
s = cuda.shared.array((4, N), 'float33')  # E[dtype]: 'float33'
s = cuda.shared.array(10**6, float32)  # E[shape]: 10**6
s = cuda.shared.array(4)  # E[argument-count]: cuda.shared.array(4)
s = cuda.local.array(4, float32); s[4] = 1  # E[index-range]: 4
s = cuda.local.array(4, float32); s = cuda.local.array(5, int32)  # ok: two live ranges
cuda.atomic.add(a, x, 1)  # E[index-type]: x
cuda.atomic.add(n, 0, 1)  # E[argument-type]: cuda.atomic.add(n, 0, 1)
y, z = n, n, n  # E[unpack]: y, z
y, z = n  # E[unpack]: y, z
y = (n, x); y = 3  # ok: two live ranges
y = a.shape[1]  # E[index-range]: 1
for j in range(x): pass  # E[argument-type]: x
for j in range(0, n, 0): pass  # E[argument-type]: 0
for j in a: pass  # E[ok]
return n  # E[return-type]: n
y = n ** 0.5; a[0] = y.real
y = n ** 0.5; a[0] = y.size  # E[subset]: y.size
y: float33 = 1  # E[name]: float33
y = 'text'; a[0] = y  # E[type-needed]: y
"""

ROWS = [line for line in CASES.strip().splitlines() if "E[ok]" not in line]


def spans(error: CompileError, text: str) -> list[tuple[str, str]]:
    lines = text.splitlines()
    result = []
    for d in error.diagnostics:
        span = d.labels[0].span
        line = lines[span.line - 1]
        end = span.end_column if span.end_line == span.line else len(line)
        result.append((d.code, line[span.column : end]))
    return result


@pytest.mark.parametrize("row", ROWS)
def test_type_error(row: str, tmp_path: Path) -> None:
    code, _, note = row.partition("  # ")
    text = HEAD + f"    {code}\n"
    expected = re.match(r"E\[([\w-]+)\]: (.*)", note)
    if expected is None:
        module_from(text, tmp_path)
        return
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path)
    shown = spans(caught.value, text)
    assert shown[0][0] == expected[1]
    assert shown[0][1].startswith(expected[2])
    assert len(shown) == 1
    assert "^" in str(caught.value)


def test_all_mistakes_are_shown_together(tmp_path: Path) -> None:
    text = HEAD + "    a[x] = 1\n    y = missing\n    z = y + 1\n    a[i] = ~x\n"
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path)
    assert [d.code for d in caught.value.diagnostics] == ["index-type", "name", "operand-type"]
    assert caught.value.code == "index-type"
    assert caught.value.line == text.splitlines().index("    a[x] = 1") + 1
    assert caught.value.file.endswith(".py")


def test_the_rendered_text(tmp_path: Path) -> None:
    text = HEAD + "    a[x] = 1\n"
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path)
    line = len(text.splitlines())
    path = caught.value.file
    assert str(caught.value) == "\n".join(
        [
            "error[index-type]: an array is indexed by an integer",
            f"   --> {path}:{line}:7",
            f"  {line} |     a[x] = 1",
            "     |       ^ this is `float`",
            "     = help: convert it with int(...)",
        ]
    )


def test_columns_are_characters(tmp_path: Path) -> None:
    text = HEAD + "    größe = 1; a[größe * 1.5] = 1\n"
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path)
    assert spans(caught.value, text) == [("index-type", "größe * 1.5")]


def test_no_source() -> None:
    scope: dict[str, object] = {}
    with pytest.raises(CompileError, match="source of k is not available") as caught:
        exec("from pycu2c import kernel\n@kernel\ndef k(a):\n    a[0] = 1\n", scope)
    assert caught.value.code == "no-source"


def test_without_a_signature_the_launch_gives_the_types(tmp_path: Path) -> None:
    text = HEAD.replace('(signature="float32[::1], int32[:, :], int, float")', '(backend="cpu")')
    k = module_from(text + "    a[x] = 1\n", tmp_path).k
    with pytest.raises(CompileError, match="index-type"):
        k[1, 1]([0.0] and __import__("numpy").zeros(3), __import__("numpy").zeros((2, 2)), 1, 2.5)

"""``print`` in kernels writes what Python writes, on every target."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pycu2c.runtime.print_log as printing
from pycu2c import CompileError, LaunchWarning
from pycu2c.kernels.kernel import Kernel
from support.kernels_from_text import module_from
from support.targets import TARGETS

HEADER = """
from collections import namedtuple
from pycu2c import *
import numpy as np

Point = namedtuple("Point", "x y")
NAME = "total"

@device
def shown(x):
    print(f"  shown {x:.3f}")
    return x

@device
def raised(a, i):
    a[i] += 1
    return a[i]
"""

# body of a kernel with `a` (an array), `v` (any value) and `i` (0 and 1) -> what it prints
BODIES = {
    "words": 'print("i", i, a[i])',
    "nothing": "print()",
    "sep and end": 'print(i, 2, 3.5, sep=", ", end=";\\n")',
    "text alone": 'print("a" "b", end="")',
    "braces and percent": 'print("100 % {} {{x}}", f"{{{i}}} %d")',
    "formats": 'print(f"{i:04d}|{a[i]:>12.4f}|{a[i]:e}|{i:+}|{i:x}")',
    "format of a format": 'w = 9\n    print(f"{a[i]:>{w}.{i + 2}f}|")',
    "conversions": 'print(f"{a[i]!r} {a[i]!s} {NAME!r} {NAME} {a[i]!s:>9}")',
    "named in text": 'print(f"{i=} {a[i]=:.2f}")',
    "tuple": "print((i, a[i], None, (2.5, True)), (i,))",
    "vector": 'p = float3(i, a[i], 0.1)\n    print(p, p.z, (p, 1), f"{p} {p!r:>30}")',
    "starred": "t = (i, a[i], NAME)\n    print(*t, *range(3))",
    "bool": "print(i == 0, not i, True, np.bool_(i))",
    "none": "print(None, v is None)",
    "device function": "x = shown(a[i]) + 1\n    print(x)",
    "in a loop": "for j in range(3):\n        if j != i:\n            print(i, j)",
    "in a written-out loop": "for t in (1, 2.5, None):\n        print(t)",
    "in a lambda": "f = lambda x: print(x)\n    f(i)\n    f(a[i])",
    "order of evaluation": 'print(a[i], raised(a, i), a[i], f"{raised(a, i)}", a[i])',
    "large and small": "print(2.0**70, 1e-7, 1e22, 0.1, -0.0, i - 2**62, 1 / 3)",
    "not finite": 'print(v * 0 + float("inf"), float("nan"))',
    "unicode": 'print("größe ∑", i)',
    "quotes": 'print("it\'s \\"so\\"", "back\\\\slash", "tab\\t")',
    "nested f-string": """print(f"{f'{i}-{a[i]}'} end")""",
}


def printed_by(text: str, target: str, capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    module = module_from(text, folder)
    capsys.readouterr()
    a = np.array([0.1, 1e10], np.float32)
    Kernel(module.k.python, backend=target)[1, 2](a, 7)
    return capsys.readouterr().out


def run_in_python(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The lines of the plain function, for i = 0 and i = 1."""
    scope: dict[str, Any] = {}
    plain = text.replace("@kernel", "").replace("@device", "").replace("cuda.grid(1)", "I")
    exec(plain, scope)
    a = np.array([0.1, 1e10], np.float32)
    capsys.readouterr()
    for scope["I"] in range(2):
        scope["k"](a, 7)
    return capsys.readouterr().out


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_print(body: str, target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = f"{HEADER}\n@kernel\ndef k(a, v):\n    i = cuda.grid(1)\n    {body}\n"
    result = printed_by(text, target, capsys, tmp_path)
    expected = run_in_python(text, capsys)
    # threads come in any order, each with its own lines in order
    assert sorted(result.splitlines()) == sorted(expected.splitlines())
    assert len(result) == len(expected)


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("name", DTYPES)
def test_numbers_of_all_types(
    name: str, target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "from pycu2c import *\n@kernel\ndef k(a):\n    print(a[0], (a[1],), f'{a[2]}')\n"
    module = module_from(text, tmp_path)
    a = np.array([0, 1, 100.7]).astype(name)
    Kernel(module.k.python, backend=target)[1, 1](a)
    assert capsys.readouterr().out == f"{a[0]} {(a[1],)} {a[2]}\n"


def test_bfloat16(target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    module = module_from("from pycu2c import *\n@kernel\ndef k(a):\n    print(a[0])\n", tmp_path)
    Kernel(module.k.python, backend=target)[1, 1](np.array([0.1], ml_dtypes.bfloat16))
    assert capsys.readouterr().out == "0.100098\n"


def test_a_python_float_kept_in_32_bits(
    target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "from pycu2c import *\n@kernel(weak_float='float32')\ndef k(n):\n    print(0.5 * n)\n"
    module = module_from(text, tmp_path)
    Kernel(module.k.python, backend=target, options=module.k.options)[1, 1](3)
    assert capsys.readouterr().out == "1.5\n"


@pytest.mark.parametrize("backend", [t for t in TARGETS if t != "python"])
def test_a_full_log_is_reported(
    backend: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(printing, "CAPACITY", 10)
    text = "from pycu2c import *\n@kernel\ndef k(n):\n    print(cuda.grid(1), n)\n"
    module = module_from(text, tmp_path)
    with pytest.warns(LaunchWarning, match="5 print"):
        Kernel(module.k.python, backend=backend)[2, 4](1)
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_launches_from_many_threads(
    target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "from pycu2c import *\n@kernel\ndef k(n):\n    print(f'<{n} {cuda.grid(1)}>')\n"
    launched = Kernel(module_from(text, tmp_path).k.python, backend=target)[2, 16]
    threads = [threading.Thread(target=launched, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"<{n} {i}>" for n in range(8) for i in range(32))


def test_no_standard_output(target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``sys.stdout`` is None in a process that starts without one; ``print`` writes nothing."""
    text = "from pycu2c import *\n@kernel\ndef k(a):\n    print(a[0])\n    a[0] += 1\n"
    k = Kernel(module_from(text, tmp_path).k.python, backend=target)
    monkeypatch.setattr(sys, "stdout", None)
    k[1, 1](a := np.ones(1))
    assert a[0] == 2


def test_a_thread_that_has_done_nothing_else(
    target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "from pycu2c import *\n@kernel\ndef k(n):\n    print(n)\n"
    launched = Kernel(module_from(text, tmp_path).k.python, backend=target)[1, 1]
    launched(1)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(launched, 2).result()
    assert capsys.readouterr().out == "1\n2\n"


def test_the_same_kernel_twice_has_one_log(
    target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "from pycu2c import *\n@kernel\ndef k(n):\n    print(f'<{n} {cuda.grid(1)}>')\n"
    python = module_from(text, tmp_path).k.python
    kernels = [Kernel(python, backend=target) for _ in range(8)]
    threads = [threading.Thread(target=k[4, 64], args=(n,)) for n, k in enumerate(kernels)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"<{n} {i}>" for n in range(8) for i in range(256))


WRONG = {
    "an array": ("print(a)", "argument-type", "a"),
    "a function": ("print(shown)", "argument-type", "shown"),
    "to a file": ("print(1, file=v)", "call", "file=v"),
    "end that is computed": ("print(1, end=v)", "constant-needed", "v"),
    "an f-string in an f-string": ("""print(f"{f'{v}':>9}")""", "string", "f'{v}'"),
    "an f-string kept": ('s = f"{v}"', "string", 'f"{v}"'),
}


@pytest.mark.parametrize(("body", "code", "caret"), WRONG.values(), ids=WRONG)
def test_unsupported_print_arguments(body: str, code: str, caret: str, tmp_path: Path) -> None:
    text = f"{HEADER}\n@kernel\ndef k(a, v):\n    {body}\n"
    with pytest.raises(CompileError) as caught:
        Kernel(module_from(text, tmp_path).k.python, backend="cpu")[1, 1](np.zeros(3), 7)
    result = caught.value.diagnostics[0]
    assert result.code == code
    span = result.labels[0].span
    line = text.splitlines()[span.line - 1]
    assert line[span.column : span.column + len(caret)] == caret


@pytest.mark.parametrize("value", ["v:.2q", "a[0]:d", "(v, 1):>5"])
def test_a_format_that_does_not_fit_is_pythons_error(value: str, tmp_path: Path) -> None:
    text = f"{HEADER}\n@kernel\ndef k(a, v):\n    print(f'{{{value}}}')\n"
    with pytest.raises((ValueError, TypeError), match=r"(?i)format"):
        Kernel(module_from(text, tmp_path).k.python, backend="cpu")[1, 1](np.zeros(3), 7)

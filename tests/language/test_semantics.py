"""Every rule of promotion, arithmetic and indexing: the type and the value of its result.

A row is one rule. Its kernel computes an expression for each dtype that the rule is about, and
numpy (for bfloat16 the package ml_dtypes) says what comes out, one element at a time.
"""

from __future__ import annotations

import cmath
import math
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c.base.dtypes import BY_NAME, DTYPES, DType, DTypeKind
from pycu2c.ir.nodes import Assign
from pycu2c.ir.walk import statements
from pycu2c.kernels.kernel import Kernel
from support.kernels_from_text import module_from
from support.launching import run

SIDE = 6  # values of each dtype; every pair of them is computed
COUNT = SIDE * SIDE
N = 3  # what ``n`` is, an int of Python's

HEADER = """
import cmath
import math
import numpy as np
from pycu2c import cuda, kernel
from pycu2c.base.types import bfloat16, float16, float32, float64, int8, int32, uint8

@kernel(fmad=False)
"""


# ---- which dtypes ------------------------------------------------------------------------------

Fits = Callable[[DType], bool]


def numbers(row: DType) -> bool:
    return row.kind is not DTypeKind.BOOL


def integers(row: DType) -> bool:
    return row.is_integer


def floats(row: DType) -> bool:
    return row.is_float


def real(row: DType) -> bool:
    return row.is_integer or row.is_float


def complexes(row: DType) -> bool:
    return row.is_complex


def whole(row: DType) -> bool:
    return row.is_integral


def not_whole(row: DType) -> bool:
    return not row.is_integral


def everything(row: DType) -> bool:
    return True


def values_of(row: DType) -> np.ndarray[Any, Any]:
    """Numbers near every edge of a dtype."""
    if row.kind is DTypeKind.BOOL:
        listed: list[Any] = [True, False, True, True, False, False]
    elif row.is_complex:
        listed = [0, 1, 1 - 2j, -2.25 + 0.5j, 3j, 0.1 + 7j]
    elif row.is_float:
        listed = [0.0, 1.5, -2.25, 2.5, 0.1, -7.0]
    elif row.is_signed:
        listed = [0, 1, 7, -7, row.minimum, row.maximum]
    else:
        listed = [0, 1, 2, 7, row.maximum, row.maximum // 2 + 1]
    return np.array(listed, row.numpy)


def pairs(left: DType, right: DType) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.repeat(values_of(left), SIDE), np.tile(values_of(right), SIDE)


# ---- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """``lines`` set ``r`` from ``a`` and ``b`` of a dtype, the thread ``i`` and the int ``n``.

    ``means`` says it in numpy's terms, where that is another text; ``F`` in it makes a Python
    float what it is beside ``a`` (ml_dtypes has no weak floats). ``right`` is the dtype of ``b``
    where that is another one; ``ulps`` is how far a library function may be off.
    """

    name: str
    lines: str
    fits: Fits
    means: str = ""
    right: str = ""
    ulps: int = 0


ROWS = [
    # promotion
    Row("a Python float keeps a float", "r = a * 2.0", not_whole, "r = a * F(2.0)"),
    Row("a Python int keeps a number", "r = a * 2", numbers),
    Row("an int argument keeps a number", "r = a * n", numbers),
    Row("a thread's index keeps a number", "r = a * i", numbers),
    Row("an argument on the left", "r = n - a", numbers),
    Row("a Python complex makes a float complex", "r = a * 2j", everything),
    Row("a Python bool keeps a number", "r = a + True", numbers),
    Row("a sum with 1 wraps", "r = a + 1", numbers),
    Row("an integer times a Python float is float64", "r = a * 2.0", whole),
    Row("an integer over a Python int is float64", "r = a / 2", whole),
    Row("a quotient of floats has their type", "r = a / 2", not_whole),
    Row("a variable joins what reaches it", "r = 0.0\nfor _ in range(1):\n    r += a", everything,
        "r = F(0.0) + a"),
    Row("a conditional expression joins", "r = a if i % 2 else 0.0", everything,
        "r = a + F(0.0) if i % 2 else type(a + F(0.0))(0.0)"),
    Row("and: the value, joined", "r = a and b", everything),
    Row("or: the value, joined", "r = a or b", everything),
    Row("and with an int keeps a number", "r = a and n", numbers, "r = type(a)(a and n)"),
    Row("or with an int keeps a number", "r = a or n", numbers, "r = type(a)(a or n)"),
    Row("a lone float with a lone int is float", "r = 0.1 * i", everything),
    # arithmetic
    Row("sum", "r = a + b", everything),
    Row("difference", "r = a - b", numbers),
    Row("product", "r = a * b", everything),
    Row("quotient", "r = a / (b or 1)", everything, "r = a / (b if b else type(b)(1))"),
    Row("sums of narrow types are cut at each step", "r = (a + a) // 2 + (b + b) // 2", real),
    Row("16 bits are rounded after every operation", "r = a * b + a * 3 - b", numbers),
    Row("floor division", "r = a // b", whole),
    Row("floor division of floats", "r = a // (b or 1)", floats,
        "r = a // (b if b else type(b)(1))"),
    Row("remainder", "r = a % b", whole),
    Row("remainder of floats", "r = a % (b or 1)", floats, "r = a % (b if b else type(b)(1))"),
    Row("floor division by a constant", "r = a // 3 + a // 4", real),
    Row("remainder by a constant", "r = a % 3 + a % 4", real),
    Row("divmod", "q, m = divmod(a, b)\nr = q * 3 + m", integers,
        "r = (a // b) * 3 + a % b"),
    Row("division by 0 gives numpy's value", "r = a // (b - b) + a % (b - b)", integers),
    Row("a float over 0 is infinite, or no number", "r = a / (b - b)", floats),
    Row("power", "r = a ** 3", real),
    Row("power of a complex number", "r = a ** 2", complexes, "r = a * a"),
    Row("power of two integers", "r = a ** (b & 7)", integers),
    Row("power of two floats", "r = abs(a) ** b", floats, ulps=4),
    Row("shift to the left, by any width", "r = (a << (b & 15)) + (a << n) + (a << 100)",
        integers),
    Row("shift to the right, by any width", "r = (a >> (b & 15)) + (a >> n) + (a >> 100)",
        integers),
    Row("bits", "r = (a & b) ^ (a | 6) ^ ~a", integers),
    Row("bits of bools", "r = (a & b) ^ (a | b) ^ ~a", lambda row: row.kind is DTypeKind.BOOL),
    Row("numpy's bools: True + True is True", "r = a + b", lambda row: row.kind is DTypeKind.BOOL),
    Row("a comparison counts as 0 and 1", "r = (a == b) + (a != b) * 2", everything,
        "r = int(a == b) + int(a != b) * 2"),
    Row("negative", "r = -a", numbers),
    Row("positive", "r = +a", numbers),
    Row("comparisons", "r = (a < b) + (a <= b) * 2 + (a > b) * 4 + (a >= b) * 8", real,
        "r = int(a < b) + int(a <= b) * 2 + int(a > b) * 4 + int(a >= b) * 8"),
    Row("a comparison with an int is exact", "r = (a < -1) + (a < 300) * 2 + (a == n) * 4",
        integers,
        "r = int(int(a) < -1) + int(int(a) < 300) * 2 + int(int(a) == n) * 4"),
    Row("a chained comparison", "r = -2 < a <= b", real, "r = bool(-2 < a <= b)"),
    Row("signed and unsigned compare by value", "r = a < b", integers,
        "r = int(a) < int(b)", right="uint64"),
    Row("unsigned and signed compare by value", "r = a >= b", integers,
        "r = int(a) >= int(b)", right="int64"),
    Row("truth", "r = 1 if a else 2", everything),
    Row("not", "r = not a", everything, "r = not bool(a)"),
    # Python's functions
    Row("round, half to even", "r = round(a) + round(a * 0.5)", floats,
        "r = int(np.rint(a)) + int(np.rint(a * 0.5))"),
    Row("round of an integer", "r = round(a)", integers, "r = wrapped(int(a))"),
    Row("round to digits", "r = round(a, 1)", lambda row: row.is_float and not row.is_half),
    Row("min", "r = min(a, b)", real),
    Row("max", "r = max(a, b, a)", real),
    Row("min with a Python int", "r = min(a, 3)", real, "r = type(a)(min(a, 3))"),
    Row("min and max of a NaN: what comes first stays",
        "z = b - b\nq = z / z\nr = min(q, a)\nr = max(a, r)", floats,
        "z = b - b\nq = z / z\nr = min(q, a)\nr = max(a, r)"),
    Row("absolute value", "r = abs(a)", real),
    Row("absolute value of a complex number", "r = abs(a)", complexes, ulps=2),
    Row("int of a float cuts", "r = int(a)", real, "r = wrapped(int(a))"),
    Row("float", "r = float(a)", real),
    Row("bool", "r = bool(a)", everything),
    Row("complex", "r = complex(a)", everything),
    Row("parts of a complex number", "r = a.real - b.imag", complexes),
    Row("conjugate", "r = a.conjugate() * b", complexes),
    # functions
    Row("math of a float has its type", "r = math.sqrt(a * a + 1)", floats,
        "r = np.sqrt(a * a + 1)"),
    Row("math of an integer is float", "r = math.sqrt(a & 127)", integers,
        "r = math.sqrt(int(a & 127))"),
    Row("numpy's functions have the type", "r = np.floor(a) + np.trunc(b)", floats),
    Row("a library function has the type", "r = math.exp(a)", floats, "r = np.exp(a)", ulps=3),
    Row("cmath has the type", "r = cmath.exp(a)", complexes, "r = np.exp(a)", ulps=8),
    Row("math.floor and math.ceil are int", "r = math.floor(a) + math.ceil(b) * 10", floats,
        "r = int(np.floor(a)) + int(np.ceil(b)) * 10"),
    Row("numpy's function keeps an integer", "r = np.square(a) + np.sign(b)", real),
    Row("a dtype converts", "r = float32(a)", real, "r = np.float32(a)"),
    Row("a narrow dtype cuts", "r = int8(a)", integers, "r = a.astype(np.int8)"),
    Row("a conversion to 16 bits rounds", "r = float16(a) + bfloat16(0.5)", integers,
        "r = np.float32(np.float16(a)) + np.float32(0.5)"),
]  # fmt: skip

FIXED = {"math": math, "cmath": cmath, "np": np, "n": N}


def wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def expected(row: Row, x: Any, y: Any) -> list[Any]:
    """What numpy gives for each pair."""
    result = []
    code = compile(row.means or row.lines, row.name, "exec")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            of_kind = float if row_of(a).is_integral else type(a)
            scope = {**FIXED, "wrapped": wrapped, "F": of_kind, "a": a, "b": b, "i": i}
            exec(code, scope)
            result.append(scope["r"])
    return result


def row_of(value: np.generic) -> DType:
    return BY_NAME[value.dtype.name]


def program(row: Row, dtypes: list[DType]) -> str:
    """One kernel that computes the row for all dtypes, one after the other."""
    names = [f"{role}_{d.short}" for d in dtypes for role in "xyo"]
    lines = [f"def k(n, {', '.join(names)}):", "    i = cuda.grid(1)", f"    if i < {COUNT}:"]
    for d in dtypes:
        lines += [f"        a, b = x_{d.short}[i], y_{d.short}[i]"]
        lines += textwrap.indent(row.lines, " " * 8).split("\n")
        lines += [f"        r_{d.short} = r", f"        o_{d.short}[i] = r_{d.short}"]
    return HEADER + "\n".join(lines)


def types_of_results(kernel: Kernel, arguments: tuple[Any, ...]) -> dict[str, str]:
    launcher = kernel.launcher
    built = launcher.compiler.build(launcher.signature(launcher.flatten(arguments)))
    assigned = [s for s in statements(built.module.kernel.body) if isinstance(s, Assign)]
    return {s.var.name: str(s.var.type) for s in assigned}


def named(value: Any) -> str:
    """How a type is called: numpy's bool is Python's here."""
    if isinstance(value, np.generic):
        return str(value.dtype)
    return type(value).__name__


def differ(row: Row, got: Any, right: list[Any]) -> bool:
    want = np.array(right)
    if got.dtype.kind == "V":  # bfloat16
        got, want = got.astype(np.float32), want.astype(np.float32)
    if not row.ulps:
        return not np.array_equal(got, want, equal_nan=got.dtype.kind in "fc")
    eps = 2.0**-7 if "bfloat16" in str(np.array(right).dtype) else float(np.finfo(got.dtype).eps)
    return not np.allclose(got, want, rtol=row.ulps * eps, atol=0, equal_nan=True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(" ", "-"))
def test_type_and_value(row: Row, target: str, tmp_path: Path) -> None:
    dtypes = [d for d in DTYPES if row.fits(d)]
    inputs = [pairs(d, BY_NAME[row.right] if row.right else d) for d in dtypes]
    right = [expected(row, x, y) for x, y in inputs]
    outs = [np.zeros(COUNT, np.array(values).dtype) for values in right]
    arguments = (N, *(a for (x, y), out in zip(inputs, outs, strict=True) for a in (x, y, out)))
    kernel = module_from(program(row, dtypes), tmp_path).k
    result = types_of_results(kernel, arguments)
    computed = run(kernel, (2, 32), arguments, target)[3::3]
    wrong = []
    for d, values, got in zip(dtypes, right, computed, strict=True):
        kinds = {named(v) for v in values}
        if {result[f"r_{d.short}"]} != kinds:
            wrong.append(f"{d}: the type is {result[f'r_{d.short}']}, not {kinds}")
        elif differ(row, got, values):
            wrong.append(f"{d}: {got.tolist()}\n   not {values}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("left", DTYPES, ids=str)
def test_sums_of_every_two_types(left: DType, target: str, tmp_path: Path) -> None:
    """numpy's common type for each pair: int64 with uint64 is float64."""
    names = [f"{role}_{d.short}" for d in DTYPES for role in "yo"]
    lines = [f"def k(x, {', '.join(names)}):", "    i = cuda.grid(1)", f"    if i < {COUNT}:"]
    for d in DTYPES:
        lines += [f"        r_{d.short} = x[i] + y_{d.short}[i]"]
        lines += [f"        o_{d.short}[i] = r_{d.short}"]
    kernel = module_from(HEADER + "\n".join(lines), tmp_path).k
    row = Row("sum", "r = a + b", everything)
    inputs = [pairs(left, d) for d in DTYPES]
    right = [expected(row, x, y) for x, y in inputs]
    outs = [np.zeros(COUNT, np.array(values).dtype) for values in right]
    parts = (a for (_, y), out in zip(inputs, outs, strict=True) for a in (y, out))
    arguments = (inputs[0][0], *parts)
    result = types_of_results(kernel, arguments)
    computed = run(kernel, (2, 32), arguments, target)[2::2]
    for d, values, got in zip(DTYPES, right, computed, strict=True):
        assert {result[f"r_{d.short}"]} == {named(v) for v in values}, f"{left} + {d}"
        assert not differ(row, got, values), f"{left} + {d}: {got.tolist()}, not {values}"


# ---- weak numbers by themselves ------------------------------------------------------------------

WEAK = [
    ("1 + n", "int"), ("n / 2", "float"), ("n * 0.5", "float"), ("n // 2 - n % 2", "int"),
    ("n + 1j", "complex"), ("n < 4", "bool"), ("True + True", "int"), ("2 ** n", "int"),
    ("n ** 2", "int"), ("n ** -1", "float"), ("n ** 0.5", "float"), ("-n // 2", "int"),
    ("len((1, 2)) + n", "int"), ("cuda.grid(1) + n", "int"), ("cuda.gridsize(1)", "int"),
    ("cuda.threadIdx.x + cuda.blockIdx.x", "int"), ("cuda.blockDim.x * cuda.gridDim.x", "int"),
    ("out.shape[0]", "int"), ("out.size + len(out)", "int"), ("min(n, 2.5)", "float"),
    ("n and 2.5", "float"), ("n or 1j", "complex"), ("1 if n > 2 else 0.5", "float"),
    ("int(2.9) + int(-2.9)", "int"), ("round(n * 0.5)", "int"), ("round(n * 0.51, 1)", "float"),
    ("math.floor(n * 0.5)", "int"), ("math.ceil(n * 0.5)", "int"), ("math.sqrt(n)", "float"),
    ("n << 3 >> 1", "int"), ("~n & 7 | 8 ^ n", "int"), ("not n", "bool"), ("abs(-n)", "int"),
    ("sum([k for k in range(4)])", "int"), ("divmod(-n, 2)[0]", "int"), ("1 < n <= 3", "bool"),
    ("n == 3.0", "bool"), ("1 << 60 if n > 5 else 1 << n", "int"), ("float(n)", "float"),
    ("bool(n) + 1", "int"), ("complex(n, 2).imag", "float"), ("n // 0 if n < 0 else n", "int"),
]  # fmt: skip


class _Place:
    """``cuda``, of a launch of one thread."""

    x = 0
    threadIdx = blockIdx = property(lambda self: self)
    blockDim = gridDim = property(lambda self: _One())

    def grid(self, _: int) -> int:
        return 0

    def gridsize(self, _: int) -> int:
        return 1


class _One:
    x = 1


@pytest.mark.parametrize(("expression", "kind"), WEAK)
def test_numbers_of_python_by_themselves(
    expression: str, kind: str, target: str, tmp_path: Path
) -> None:
    out = np.zeros(1, {"complex": np.complex128, "float": np.float64}.get(kind, np.int64))
    text = f"{HEADER}def k(n, out):\n    r = {expression}\n    out[0] = r"
    kernel = module_from(text, tmp_path).k
    assert types_of_results(kernel, (N, out))["r"] == kind
    right = eval(expression, {**FIXED, "cuda": _Place(), "out": out})
    result = run(kernel, (1, 1), (N, out), target)[1][0]
    # functions of the libraries differ in their last bits: CUDA's pow
    assert result == pytest.approx(right, rel=1e-15) if "**" in expression else result == right


def test_loop_variables_are_ints(target: str, tmp_path: Path) -> None:
    text = """
    def k(x, out):
        for p in range(2):
            for q, v in enumerate(x):
                r = p + q
                s = v + p
                out[q] += r + s
    """
    kernel = module_from(HEADER + textwrap.dedent(text), tmp_path).k
    arguments = (np.arange(3, dtype=np.int8), np.zeros(3))
    result = types_of_results(kernel, arguments)
    assert (result["r"], result["s"]) == ("int", "int8")
    assert run(kernel, (1, 1), arguments, target)[1].tolist() == [2, 6, 10]

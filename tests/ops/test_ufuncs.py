"""numpy's functions on numbers, and math's on ints: the value and the type that numpy returns."""

from __future__ import annotations

import math
import operator
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ops.test_arithmetic import COMPLEX, FLOATS, INTS, pairs, shown
from pycu2c import CompileError
from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.ir.nodes import Assign
from pycu2c.ir.walk import statements
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.specialization import generate_text
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run

# numpy answers with its own bool what kernels answer with Python's
OF_ALL = """
np.add(a, b); np.subtract(a, b); np.multiply(a, b); np.divide(a, d); np.true_divide(a, d)
np.floor_divide(a, d); np.remainder(a, d); np.mod(a, d); np.fmod(a, d); np.square(a)
np.less(a, b); np.less_equal(a, b); np.greater(a, b); np.greater_equal(a, b); np.equal(a, b)
np.not_equal(a, b); np.logical_and(a, b); np.logical_or(a, b); np.logical_xor(a, b)
np.logical_not(a); np.logical_xor(a, True); np.isnan(a)
np.maximum(a, b); np.minimum(a, b); np.fmax(a, b); np.fmin(a, b); np.clip(a, b, 3)
np.where(a > b, a, b)[()]; np.where(a, b, 1)[()]; np.sign(a); np.absolute(a); np.positive(a)
np.negative(a); np.floor(a); np.ceil(a); np.trunc(a); np.round(a); np.round(a, 1)
np.around(a, decimals=2); np.float_power(a, 2); np.conj(a); np.real(a); np.imag(a)
np.add(a, 1); np.multiply(a, 2); np.maximum(a, 1); np.divmod(a, d)[0]; np.divmod(a, d)[1]
operator.add(a, b); operator.floordiv(a, d); operator.lt(a, b); operator.neg(a)
"""
OF_INTS = """
np.bitwise_and(a, b); np.bitwise_or(a, b); np.bitwise_xor(a, b); np.invert(a)
np.left_shift(a, 3); np.right_shift(a, 3); np.gcd(a, b); np.lcm(a, b); np.reciprocal(d)
np.power(a, np.abs(b) & 3); np.round(a % 100, -1); round(a % 100, -1); round(a, 2)
math.gcd(a // 4, b // 4); math.floor(a // 4); math.ceil(a // 4); math.trunc(int(a // 4))
math.isqrt(abs(int(a // 4)))
"""
OF_COMPLEX = """
np.add(a, b); np.subtract(a, b); np.multiply(a, b); np.divide(a, d); np.true_divide(a, d)
np.equal(a, b); np.not_equal(a, b); np.logical_and(a, b); np.logical_not(a); np.negative(a)
np.positive(a); np.square(a); np.reciprocal(d); np.conj(a); np.conjugate(a); np.real(a); np.imag(a)
np.absolute(a); np.where(a, a, b)[()]; np.exp(a); np.log(d); np.sqrt(a); np.sin(a); np.cos(a)
np.angle(d); np.power(d, 2); np.add(a, 1); np.multiply(a, 2.5); operator.sub(a, b); a ** 3
"""
OF_FLOATS = """
np.heaviside(a, b); np.logaddexp(a, b); np.logaddexp2(a, b); np.sinc(a); np.signbit(a)
np.reciprocal(d); np.nextafter(a, b); np.hypot(a, b); np.copysign(a, b); np.cbrt(a)
np.exp2(a / 100); np.expm1(a / 100); np.log1p(np.abs(a)); np.deg2rad(a); np.arctan2(a, b)
np.rint(a); np.isinf(a); np.isfinite(a); np.float_power(d, b / 100); round(a, 2)
"""


def listed(text: str) -> list[str]:
    return [part.strip() for line in text.split("\n") for part in line.split(";") if line]


def expressions(dtype: str) -> list[str]:
    if dtype in COMPLEX:
        return listed(OF_COMPLEX)
    return listed(OF_ALL + (OF_FLOATS if dtype in FLOATS else OF_INTS))


def expected(expression: str, x: np.ndarray, y: np.ndarray) -> list[Any]:
    scope = {"np": np, "math": math, "operator": operator}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        one = x.dtype.type(1)
        return [
            eval(expression, {**scope, "a": a, "b": b, "d": b if b else one}) for a, b in zip(x, y)
        ]


def program(names: list[str]) -> str:
    lines = ["import math, operator", "import numpy as np", "from pycu2c import cuda, kernel"]
    lines += ["@kernel", f"def k(x, y, {', '.join(f'o{i}' for i in range(len(names)))}):"]
    lines += ["    i = cuda.grid(1)", "    if i < len(x):", "        a = x[i]", "        b = y[i]"]
    lines += ["        d = b if b else 1"]
    for i, name in enumerate(names):
        lines += [f"        r{i} = {name.removesuffix('[()]')}", f"        o{i}[i] = r{i}"]
    return "\n".join(lines)


def types_of_results(kernel: Kernel, arguments: tuple[Any, ...]) -> dict[str, str]:
    launcher = kernel.launcher
    built = launcher.compiler.build(launcher.signature(launcher.flatten(arguments)))
    assigned = [s for s in statements(built.module.kernel.body) if isinstance(s, Assign)]
    return {s.var.name: str(s.var.type) for s in assigned}


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, *COMPLEX])
def test_type_and_value_are_numpys(dtype: str, target: str, tmp_path: Path) -> None:
    names = expressions(dtype)
    x, y = pairs(dtype, dtype)
    right = [expected(name, x, y) for name in names]
    outs = [np.zeros(len(x), np.asarray(values).dtype) for values in right]
    kernel = module_from(program(names), tmp_path).k
    result = types_of_results(kernel, (x, y, *outs))
    computed = run(kernel, (-(-len(x) // 32), 32), (x, y, *outs), target)[2:]
    wrong = []
    for i, (name, values, got) in enumerate(zip(names, right, computed)):
        (kind,) = {shown(v) for v in values}
        if result[f"r{i}"] != kind:
            wrong.append(f"{name} is {result[f'r{i}']}, not {kind}")
        near = 4e-6 if got.dtype in (np.float32, np.complex64) else 1e-13
        if not np.allclose(got, np.asarray(values), rtol=near, atol=near / 4, equal_nan=True):
            wrong.append(f"{name}: {got.tolist()}, not {values}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, *COMPLEX])
def test_compilers_take_them_without_a_warning(dtype: str, tmp_path: Path) -> None:
    names = expressions(dtype)
    x, y = pairs(dtype, dtype)
    outs = [np.zeros(len(x), np.asarray(expected(name, x, y)).dtype) for name in names]
    launcher = module_from(program(names), tmp_path).k.launcher
    built = launcher.compiler.build(launcher.signature(launcher.flatten((x, y, *outs))))
    assert check_warnings(generate_text(built, "cpu").text) == ""
    made = generate_text(built, "cuda")
    assert nvrtc.compile(made.text, made.entry, "sm_90", cache=False).log.strip("\0\n ") == ""


# ---- numbers of Python -------------------------------------------------------------------------

WEAK = {
    "math.gcd(n, 84)": 12,
    "math.lcm(n, 40)": 360,
    "math.gcd(n, 48, 20)": 4,
    "math.isqrt(n + 2**53)": math.isqrt(72 + 2**53),
    "math.comb(n - 12, 28)": math.comb(60, 28),
    "math.comb(n, 36)": 0,
    "math.perm(n, 3)": 72 * 71 * 70,
    "math.factorial(n - 52)": math.factorial(20),
    "math.floor(n + 2**60 + 1)": 72 + 2**60 + 1,
    "math.ceil(n + 2**60 + 1)": 72 + 2**60 + 1,
    "round(n, -1)": 70,
    "round(n)": 72,
    "np.where(n > 5, 1, 2)": 1,
    "2**64 // 2**60": 16,
    "(1 << 64) % 1000": 616,
    "-(2**63)": -(2**63),
    "10**100 // 10**98 + 3**100 % 7": 104,
    "2**700 / 2**690": 1024,
    "(1 << 200) >> 198": 4,
    "~(2**64 - 1) + 2**64": 0,
    "n < 2**64 - 1": 1,
    "2**63 <= n": 0,
    "n - 72 == 2**64 - 1": 0,
    "sum((2**63, 2**63)) % 7": 2,
    "max(2**70, 2**80) >> 70": 1024,
    "min(2**80, 2**70, 2**90) // 2**69": 2,
    "abs(-(2**70)) >> 60": 1024,
    "divmod(2**70, 3)[1]": 1,
    "[2**70][0] >> 60": 1024,
    "(2**70 if 3 else 1) >> 60": 1024,
    "(5).bit_count() + n": 74,
}


def one_number(expression: str, dtype: str, target: str, folder: Path) -> Any:
    text = f"""
import math
import numpy as np
from pycu2c import cuda, kernel

@kernel
def k(n, out):
    out[0] = {expression}
"""
    out = np.zeros(1, dtype)
    return run(module_from(text, folder).k, (1, 1), (72, out), target)[1][0]


@pytest.mark.parametrize("expression", WEAK)
def test_of_python_ints(expression: str, target: str, tmp_path: Path) -> None:
    assert one_number(expression, "int64", target, tmp_path) == WEAK[expression]


@pytest.mark.parametrize("expression", ["2**64 - 1", "(1 << 64) - 1", "2**63 + 2**62", "2 * 2**62"])
def test_constants_are_exact_while_they_are_constants(
    expression: str, target: str, tmp_path: Path
) -> None:
    assert one_number(expression, "uint64", target, tmp_path) == eval(expression)


@pytest.mark.parametrize("expression", ["n + (2**64 + 1)", "2**70", "1 << 5000", "10**(10**9)"])
def test_a_value_that_no_integer_type_holds_is_an_error(expression: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="constant-range"):
        one_number(expression, "int64", "cpu", tmp_path)


FLOATING = {
    "math.log(n, 2)": math.log(72, 2),
    "math.log(n)": math.log(72),
    "math.remainder(n, 7.0)": math.remainder(72, 7),
    "math.nextafter(1.0, n)": math.nextafter(1.0, 72),
    "round(n * 1.2345, 2)": 88.88,
    "round(n * 1.25, -1)": 90.0,
    "np.round(n * 0.51)": 37.0,
    "cuda.fma(0.1, 10.0, -1.0)": 2.0**-54,
    "cuda.fma(-1e300, 1e300, n)": -math.inf,
    "np.sinc(0.5)": 2 / math.pi,
    "np.i0(np.float64(n) / 72)": 1.2660658777520082,
    "np.clip(n * 1.0, 0, 1)": 1.0,
    "math.hypot(n, 3.0, 4.0)": math.hypot(72, 5),
    "np.where(n < 5, 1, 2.5)": 2.5,
}


@pytest.mark.parametrize("expression", FLOATING)
def test_of_python_floats(expression: str, target: str, tmp_path: Path) -> None:
    result = one_number(expression, "float64", target, tmp_path)
    assert result == pytest.approx(FLOATING[expression], rel=1e-14)


BOOLS = {
    "np.maximum(n, False)": True,
    "np.fmin(n, np.bool_(0))": False,
    "max(np.bool_(n), n < 5)": True,
    "min(n > 5, n < 5)": False,
    "np.add(np.bool_(n), np.bool_(n))": True,
    "np.invert(np.bool_(n))": False,
    "np.where(n, np.bool_(0), True)": False,
}


@pytest.mark.parametrize("expression", BOOLS)
def test_of_bools(expression: str, target: str, tmp_path: Path) -> None:
    assert one_number(expression, "bool", target, tmp_path) == BOOLS[expression]


HALVES = [
    "np.sign(a)", "np.clip(a, 0, 1)", "np.fmod(a, b)", "np.round(a, 1)", "np.hypot(a, b)",
    "np.square(a)", "np.reciprocal(a)", "np.where(a > b, a, 1)", "np.heaviside(a, b)",
    "np.add(a, b)", "np.fmax(a, b)", "np.logaddexp(a, b)", "np.floor(a)",
]  # fmt: skip


@pytest.mark.parametrize("half", [FLOAT16, BFLOAT16], ids=str)
def test_halves_stay_halves(half: DType, target: str, tmp_path: Path) -> None:
    x, y = np.array([1.5, -2.25, 3.1], half.numpy), np.array([0.5, 2.5, -1.1], half.numpy)
    right = [np.array(expected(name, x, y)).astype(half.numpy) for name in HALVES]
    outs = [np.zeros(3, values.dtype) for values in right]
    kernel = module_from(program(HALVES), tmp_path).k
    result = types_of_results(kernel, (x, y, *outs))
    assert {result[f"r{i}"] for i in range(len(HALVES))} == {half.name}
    computed = run(kernel, (1, 32), (x, y, *outs), target)[2:]
    for name, got, values in zip(HALVES, computed, right):
        near = 1e-3 if half is FLOAT16 else 2.0**-7
        wide = got.astype(np.float32), values.astype(np.float32)
        np.testing.assert_allclose(*wide, rtol=near, err_msg=name)


# ---- what the arguments do -----------------------------------------------------------------------

EFFECTS = """
import numpy as np
from pycu2c import cuda, kernel

@kernel
def k(n, out):
    out[0] = np.where(n > 5, cuda.atomic.add(out, 1, 5), cuda.atomic.add(out, 2, 7))
    both = np.logical_and(n < 5, cuda.atomic.add(out, 3, 4) == 0)
    out[4] = 10 + both
    out[5] = np.square(cuda.atomic.add(out, 6, 1) + 3)
"""


def test_every_argument_is_evaluated_once(target: str, tmp_path: Path) -> None:
    out = np.zeros(7, np.int64)
    result = run(module_from(EFFECTS, tmp_path).k, (1, 1), (72, out), target)[1]
    assert result.tolist() == [0, 5, 7, 4, 10, 9, 1]


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("np.power(n, -1)", "operand-type"),
        ("np.power(np.uint8(n), 300)", "constant-range"),
        ("np.clip(np.uint8(n), -1, 3)", "constant-range"),
        ("np.add(np.uint8(n), 300)", "constant-range"),
        ("np.add(n)", "argument-count"),
        ("np.logaddexp(n, 1, 2)", "argument-type"),
        ("np.round(1j * n)", "argument-type"),
        ("np.bitwise_and(n, 1.5)", "operand-type"),
        ("np.gcd(n, 1.5)", "argument-type"),
        ("math.gcd(n, 1.5)", "argument-type"),
        ("round(n, 1.5)", "argument-type"),
        ("np.clip(1j * n, 0, 1)", "argument-type"),
        ("np.sign(np.bool_(n))", "argument-type"),
    ],
)
def test_errors(expression: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=code):
        one_number(expression, "int64", "cpu", tmp_path)

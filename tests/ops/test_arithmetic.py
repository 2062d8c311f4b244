"""Rules of arithmetic: the type and the value of each operator, compared with numpy scalars.

The expected value is what Python computes with numpy scalars, one element at a time.
"""

from __future__ import annotations

import math
import operator
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c.ir.nodes import Assign
from pycu2c.ir.walk import statements
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.kernels_from_text import module_from
from support.launching import run

TEXT = """
import math
import numpy as np
from pycu2c import cuda, kernel, float32, int32, uint8

@kernel
def k(x, y, out):
    i = cuda.grid(1)
    if i < len(out):
        a = x[i]
        b = y[i]
        result = {expression}
        out[i] = result
"""

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def samples(dtype: str, nonzero: bool = False) -> np.ndarray:
    """Values near every edge of a dtype, 49 of them."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = np.array([0.0, 1.5, -2.25, 3.0, -7.0, 1e3, 0.1], kind)
    elif kind.kind == "c":
        values = np.array([0, 1.5, -2.25j, 3 - 1j, -7 + 0.5j, 10 + 1j, 0.1], kind)
    elif kind.kind == "b":
        values = np.array([True, False, True, True, False, False, True])
    else:
        info = np.iinfo(kind)
        low = info.min if info.min < 0 else 5
        values = np.array([0, 1, 2, 3, low, info.max, 7 if info.min == 0 else -7], kind)
    if nonzero:
        values[values == 0] = 1
    return values


def pairs(x: str, y: str, nonzero: bool = False) -> tuple[np.ndarray, np.ndarray]:
    first, second = samples(x), samples(y, nonzero)
    grid = np.meshgrid(np.arange(len(first)), np.arange(len(second)))
    return first[grid[0].ravel()], second[grid[1].ravel()]


def expected(expression: str, x: np.ndarray, y: np.ndarray) -> list[Any]:
    scope = {"np": np, "math": _NumpyMath, "float32": np.float32, "int32": np.int32}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [eval(expression, {**scope, "a": a, "b": b}) for a, b in zip(x, y)]


class _NumpyMath:
    sqrt, floor, fabs = np.sqrt, staticmethod(lambda v: int(np.floor(v))), np.fabs


def type_of_result(kernel: Kernel, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> str:
    launcher = kernel.launcher
    built = launcher.compiler.build(launcher.signature(launcher.flatten((x, y, out))))
    (result,) = {
        str(s.var.type)
        for s in statements(built.module.kernel.body)
        if isinstance(s, Assign) and s.var.name == "result"
    }
    return result


def shown(value: Any) -> str:
    if isinstance(value, np.generic):
        return str(value.dtype)
    return type(value).__name__


def check(
    expression: str, x: np.ndarray, y: np.ndarray, target: str, folder: Path, exact: bool = True
) -> None:
    right = expected(expression, x, y)
    kernel = module_from(TEXT.format(expression=expression), folder).k
    kinds = {shown(v) for v in right}
    wide = np.asarray(right)
    out = np.zeros(len(x), wide.dtype if wide.dtype != object else np.int64)
    found_type = type_of_result(kernel, x, y, out)
    assert {found_type} == {"bool" if k == "bool" else k for k in kinds}
    computed = run(kernel, (-(-len(x) // 32), 32), (x, y, out), target)[2]
    if exact or wide.dtype.kind != "f":
        np.testing.assert_array_equal(computed, wide)
    else:
        np.testing.assert_allclose(computed, wide, rtol=4e-6 if wide.dtype == np.float32 else 1e-13)


ARITHMETIC = ["a + b", "a - b", "a * b"]


@pytest.mark.parametrize("expression", ARITHMETIC)
@pytest.mark.parametrize(("x", "y"), [(d, d) for d in INTS + FLOATS + COMPLEX] + [
    ("int8", "uint8"), ("int32", "float32"), ("int64", "uint64"), ("uint8", "int64"),
    ("float32", "float64"), ("int16", "float32"), ("uint32", "int32"), ("float16", "float16"),
    ("float16", "int16"), ("complex64", "int32"), ("float64", "complex64"), ("float16", "uint8"),
])  # fmt: skip
def test_arithmetic(expression: str, x: str, y: str, target: str, tmp_path: Path) -> None:
    check(expression, *pairs(x, y), target, tmp_path)


@pytest.mark.parametrize("expression", ["a // b", "a % b", "a / b"])
@pytest.mark.parametrize("dtype", INTS)
def test_floor_division(expression: str, dtype: str, target: str, tmp_path: Path) -> None:
    """``x // 0`` and ``x % 0`` are 0, and the least integer over -1 wraps."""
    check(expression, *pairs(dtype, dtype), target, tmp_path)


@pytest.mark.parametrize("expression", ["a // b", "a % b", "a / b"])
@pytest.mark.parametrize("dtype", ["float16", *FLOATS])
def test_float_division(expression: str, dtype: str, target: str, tmp_path: Path) -> None:
    check(expression, *pairs(dtype, dtype, nonzero=True), target, tmp_path)


@pytest.mark.parametrize("expression", ["a & b", "a | b", "a ^ b", "~a"])
@pytest.mark.parametrize("dtype", [*INTS, "bool"])
def test_bits(expression: str, dtype: str, target: str, tmp_path: Path) -> None:
    check(expression, *pairs(dtype, dtype), target, tmp_path)


@pytest.mark.parametrize("expression", ["a << b", "a >> b"])
@pytest.mark.parametrize("dtype", INTS)
def test_shifts(expression: str, dtype: str, target: str, tmp_path: Path) -> None:
    x = np.repeat(samples(dtype), 5)
    y = np.tile(np.array([0, 1, 3, 7, 100], dtype), 7)
    check(expression, x, y, target, tmp_path)


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize(("x", "y"), [
    ("int8", "int8"), ("int64", "uint64"), ("uint64", "int64"), ("int32", "uint32"),
    ("uint8", "int8"), ("float32", "int32"), ("float64", "float64"), ("bool", "int8"),
])  # fmt: skip
def test_comparison(symbol: str, x: str, y: str, target: str, tmp_path: Path) -> None:
    """Integers of any two types compare by value."""
    left, right = pairs(x, y)
    compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
               "==": operator.eq, "!=": operator.ne}[symbol]  # fmt: skip
    kernel = module_from(TEXT.format(expression=f"a {symbol} b"), tmp_path).k
    out = np.zeros(len(left), np.bool_)
    plain = [compare(a.item(), b.item()) for a, b in zip(left, right)]
    result = run(kernel, (2, 32), (left, right, out), target)[2]
    np.testing.assert_array_equal(result, plain)


MIXED = [
    ("a * 2.0", "float32"), ("a * 2", "float32"), ("a + 1", "int8"), ("a * 2.0", "int32"),
    ("a / 2", "int32"), ("a / 2", "float32"), ("a * True", "int16"), ("-a", "int8"),
    ("-a", "uint16"), ("+a", "int32"), ("a ** 2", "float32"), ("a ** 2", "int32"),
    ("a ** 3", "int64"), ("a // 3", "int32"), ("a % 3", "int64"), ("a // 4", "int32"),
    ("a % 8", "int16"), ("a // -3", "int32"), ("a % -3", "int32"), ("a // -4", "int64"),
    ("1 - a", "uint8"), ("a + a * 3", "uint8"), ("a << 2", "int8"), ("a >> 1", "int16"),
    ("a & 6", "uint32"), ("float32(a)", "int32"), ("int32(a)", "int64"), ("np.uint8(a)", "uint8"),
    ("a > 1", "int32"), ("not a", "int32"), ("1 < a < 5", "int32"), ("0 <= a <= b", "int64"),
    ("a and b", "int32"), ("a or b", "int32"), ("a if a > b else b", "float32"),
    ("min(a, b)", "int32"), ("max(a, b)", "float64"), ("abs(a)", "int8"),
    ("abs(a)", "float32"), ("a * a + b", "uint16"), ("(a + b) * (a - b)", "int32"),
    ("a - (b - a)", "int64"), ("a == b or a < b", "float32"), ("-a % 5", "int32"),
    ("-(-a)", "int32"), ("a - -b", "int32"),
    ("True + True", "int8"), ("7 // 2 + 7 % 4 - 2 ** 3", "int8"), ("a + 0x7FFF", "int32"),
    ("a != a", "float32"), ("(a & 1) == 0", "int32"), ("a + (b << 1)", "int32"),
    ("int(a)", "float32"), ("bool(a)", "float64"), ("float(a) if True else 0", "float32"),
    ("len((1, 2, 3)) + a", "int16"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["int8", "uint8", "int64", "uint64"])
def test_comparison_with_numbers_that_no_integer_reaches(
    name: str, target: str, tmp_path: Path
) -> None:
    text = """
    from pycu2c import cuda, kernel

    @kernel
    def k(a, out):
        x = a[cuda.grid(1)]
        out[0] = (x < 2**64) + 2 * (x >= 2**64) + 4 * (-2**70 < x) + 8 * (x == 10**30)
        out[1] = (x != 2**64) + 2 * (-2**64 >= x) + 4 * (2**64 > x > -2**64)
    """
    a = np.array([-1], np.int64).astype(name)
    result = run(module_from(text, tmp_path).k, (1, 1), [a, np.zeros(2, np.int64)], target)[1]
    assert result.tolist() == [5, 5]


COMPARED = ("n < x", "n <= x", "n > x", "n >= x", "n == x", "n != x", "x < n", "x <= n", "x > n",
            "x >= n", "x == n", "x != n", "not n < x", "float(n) < x", "x < 2**53 + 1",
            "2**53 + 1 == x", "n < 2.0**53", "n <= 2.0**53 + 2", "n > 0.5", "(n, 1) < (x, 2)",
            "x in (1.5, n)")  # fmt: skip


def test_ints_of_python_and_floats_of_python_compare_exactly(target: str, tmp_path: Path) -> None:
    text = f"""
    from pycu2c import cuda, kernel

    @kernel
    def k(whole, real, out):
        i, j = cuda.blockIdx.x, cuda.threadIdx.x
        n, x = int(whole[i]), float(real[j])
        for k, answer in enumerate(({", ".join(COMPARED)})):
            out[i, j, k] = answer
    """
    near = (0, 3, 2**53, 2**53 + 1, 2**53 + 2, 2**62 + 1, 2**63 - 1024, 2**63 - 1)
    whole = [*near, *(-n - 1 for n in near)]
    real = [*map(float, near), *(-float(n) for n in near), 0.5, math.inf, -math.inf, math.nan]
    out = np.zeros((len(whole), len(real), len(COMPARED)), np.bool_)
    place = (len(whole), len(real))
    result = run(
        module_from(text, tmp_path).k, place, [np.array(whole), np.array(real), out], target
    )
    for k, expression in enumerate(COMPARED):
        expected = [[eval(expression, {"n": n, "x": x}) for x in real] for n in whole]
        assert result[2][:, :, k].tolist() == expected, expression


@pytest.mark.parametrize(("expression", "dtype"), MIXED)
def test_with_python_numbers(expression: str, dtype: str, target: str, tmp_path: Path) -> None:
    check(expression, *pairs(dtype, dtype), target, tmp_path, exact="**" not in expression)


def test_constants_are_exact_beyond_64_bits(target: str, tmp_path: Path) -> None:
    text = """
    from pycu2c import cuda, kernel

    @kernel
    def k(n, out):
        out[0] = (True + 2**63) % 1000
        out[1] = pow(10, 31) % 7
        out[2] = round(2**62)
        out[3] = len([v for v in range(2**70, 2**71, 2**69)]) + n
        out[4] = len(range(3, 2**64, 2)) % 1000
        out[5] = (True << 70) // 2**60 - pow(True, 2**40) * 2
    """
    result = run(module_from(text, tmp_path).k, (1, 1), [5, np.zeros(6, np.int64)], target)[1]
    exact = [(True + 2**63) % 1000, 10**31 % 7, 2**62, 7]
    assert result.tolist() == [*exact, (2**64 - 2) // 2 % 1000, 1022]


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_to_the_power_of_a_half_is_no_root(name: str, target: str, tmp_path: Path) -> None:
    """Of -inf, which the scalar's power knows, and of -0.0, which has a sign."""
    text = """
    import math
    from pycu2c import cuda, kernel

    @kernel
    def k(a, x, out):
        out[0] = a[0] ** 0.5
        out[1] = x ** 0.5
        out[2] = math.copysign(1, a[1] ** 0.5)
        out[3] = (-math.inf) ** 0.5
    """
    a = np.array([-math.inf, -0.0], name)
    arguments = [a, -math.inf, np.zeros(4)]
    result = run(module_from(text, tmp_path).k, (1, 1), arguments, target)[2]
    assert result.tolist() == [math.inf, math.inf, 1, math.inf]


def test_python_ints_wrap_at_64_bits(target: str, tmp_path: Path) -> None:
    """A generator of random numbers counts on it."""
    text = """
    from pycu2c import cuda, kernel

    @kernel
    def k(out):
        i = cuda.grid(1)
        x = i
        for _ in range(20):
            x = x * 6364136223846793005 + 1442695040888963407
            x = (x ^ (x >> 13)) * 7
        out[i] = x
    """
    result = run(module_from(text, tmp_path).k, (1, 8), [np.zeros(8, np.int64)], target)[0]
    for i in range(8):
        x = i
        for _ in range(20):
            x = wrapped(x * 6364136223846793005 + 1442695040888963407)
            x = wrapped((x ^ (x >> 13)) * 7)
        assert result[i] == x


@pytest.mark.parametrize(
    "step",
    [
        "a, b = b, a + b",
        "a += a",
        "a = (a << 5) + a * 3",
        "a *= 33; a += 1",
        "a = a * 7; b = a - 9; a = -b",
    ],
)
def test_large_sums_of_python_ints_wrap(step: str, target: str, tmp_path: Path) -> None:
    text = f"""
    from pycu2c import cuda, kernel

    @kernel
    def k(out):
        i = cuda.grid(1)
        a = i + 1
        b = i + 2
        for _ in range(100):
            {step}
        out[i] = a + b
    """
    module = module_from(text, tmp_path)
    result = run(module.k, (1, 8), [np.zeros(8, np.int64)], target)[0]
    for i in range(8):
        scope = {"a": i + 1, "b": i + 2}
        for _ in range(100):
            exec(step, scope)
        assert result[i] == wrapped(scope["a"] + scope["b"])
    lines = module.k.inspect("cuda", "void(int64[::1])").splitlines()
    sums = [line for line in lines if line.startswith(" " * 8) and "+" in line]
    assert all("unsigned" in line or "ULL" in line for line in sums)


def wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


# ---- where Python raises an exception ----------------------------------------------------------

LEAST, INF = -(2**63), math.inf
INTEGER_RESULTS = {
    "n // zero": 0, "n % zero": 0, "-n // zero": 0, "divmod(n, zero)[0]": 0, "n // 0": 0,
    "n % 0": 0, "1 // 0": 0, "1 % 0": 0,
    "least // (zero - 1)": LEAST, "least % (zero - 1)": 0, "-least": LEAST, "abs(least)": LEAST,
    "least - 1": 2**63 - 1, "n << 64": 0, "n << n * 10": 0, "n << zero - 1": 0, "n >> 64": 0,
    "-n >> 64": -1, "n >> zero - 1": 0, "-n >> zero - 1": -1, "1 << -1": 0,
    "n ** (zero - 1)": 0, "zero ** (zero - 1)": 0, "1 ** (zero - 1)": 1,
    "(zero - 1) ** (zero - 3)": -1, "(zero - 1) ** (zero - 2)": 1,
}  # fmt: skip
FLOAT_RESULTS = {
    "n / zero": INF, "-n / zero": -INF, "zero / zero": math.nan, "1 / 0": INF, "x / 0.0": INF,
    "x // (x - x)": INF, "x % (x - x)": math.nan, "n // (x - x)": INF, "(x - x) // 0": math.nan,
    "0.0 ** -1": INF, "(x - x) ** (zero - 1)": INF, "(-x) ** 0.5": math.nan,
    "math.sqrt(-x)": math.nan, "math.acos(x)": math.nan, "math.log(x - x)": -INF,
    "math.exp(x * 1000)": INF, "math.fmod(x, 0.0)": math.nan,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_python_numbers_raise_no_exceptions(dtype: str, target: str, tmp_path: Path) -> None:
    """Where Python raises an exception, the result is that of NumPy."""
    expected: dict[str, Any] = INTEGER_RESULTS if dtype == "int64" else FLOAT_RESULTS
    lines = "\n".join(f"    out[{i}] = {expression}" for i, expression in enumerate(expected))
    head = "import math\nfrom pycu2c import kernel\n\n\n@kernel\ndef k(n, zero, least, x, out):\n"
    kernel = module_from(head + lines, tmp_path).k
    result = run(kernel, (1, 1), [7, 0, LEAST, 2.0, np.full(len(expected), 99, dtype)], target)
    text = kernel.inspect("cuda", f"int, int, int, float, {dtype}[:]")
    assert nvrtc.compile(text, "k", "sm_80", cache=False).data
    found = dict(zip(expected, map(repr, result[-1].tolist())))  # all NaNs are equal as text
    assert found == {expression: repr(value) for expression, value in expected.items()}


@pytest.mark.parametrize("dtype", INTS)
def test_a_float_that_no_integer_holds_leaves_other_elements(
    dtype: str, target: str, tmp_path: Path
) -> None:
    """Its own value is undefined."""
    x = np.array([math.nan, 0, INF, 1, -INF, 2, 1e30, 3, -1e30, 4, 2.0**70, 5])
    kernel = module_from(TEXT.format(expression="a"), tmp_path).k
    result = run(kernel, (1, 32), (x, x, np.full(len(x), 99, dtype)), target)[2]
    np.testing.assert_array_equal(result[1::2], np.arange(6))

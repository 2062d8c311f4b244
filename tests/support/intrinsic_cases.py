"""Intrinsics of the registry with argument types, test values and tolerances."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from pycu2c.base.dtypes import BOOL, COMPLEX64, FLOAT32, INT64, DType
from pycu2c.codegen.helpers.catalog import helper_called, helpers_in_text, texts_of
from pycu2c.csyntax.nodes import Name
from pycu2c.csyntax.printer import print_expr
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.floats import special
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.names.cuda_namespace import CUDA, members

members(CUDA)  # imports every room


def variants(row: Intrinsic) -> tuple[DType, ...]:
    """The types that a row is spelled for: of one with types of its own, what it gives."""
    is_fixed = bool(row.parameters) and all(kind in FIXED for _, kind in row.parameters)
    return (FIXED[row.result],) if is_fixed and not row.dtypes else row.dtypes


def helpers_of(row: Intrinsic, dialect: str) -> set[str]:
    """The helpers that a spelling of a row calls, for any of its types."""
    spell = getattr(row, dialect)
    if spell is None:
        return set()
    names = {name: Name(name) for name, kind in row.parameters if kind != "index"}
    called = (helper_called(spell(names, dtype)) for dtype in row.dtypes or (INT64,))
    return {found[0] for found in called if found}


def has_halves(row: Intrinsic, dtype: DType) -> bool:
    return any(t.is_half for t in (*types_of(row, dtype), result_type(row, dtype)))


def types_of(row: Intrinsic, dtype: DType) -> list[DType]:
    """The types of the parameters."""
    return [FIXED.get(kind) or (INT64 if kind == "int" else dtype) for _, kind in row.parameters]


def result_type(row: Intrinsic, dtype: DType) -> DType:
    known = {"int": INT64, "bool": BOOL, "R": dtype.real} | FIXED
    return known.get(row.result, dtype)


ROWS = [r for r in REGISTRY.values() if r.effect is Effect.PURE and variants(r)]
# halves have their own tests, tests/ops/test_half_precision.py: ctypes cannot pass them
CASES = [(row, d) for row in ROWS for d in variants(row) if not has_halves(row, d)]
IDS = [f"{row.name}-{dtype.short}" for row, dtype in CASES]
NAMES = ["row_" + i.replace(".", "_").replace("-", "_") for i in IDS]

# helpers promise numpy's very bits; functions of a math library are within some ulps
NEAR = (*special.UNARY, *special.MULTI_ARGUMENT, *special.BESSEL, *special.FAST, special.POWI)
EXACT = {
    r.name for r in ROWS if helpers_of(r, "c") and "complex" not in r.name and r not in NEAR
} - {
    "python.pow",
    "math.exp",
    "math.log",
    "math.cbrt",
    "math.hypot",
    "numpy.sinc",
    "numpy.logaddexp",
    "numpy.logaddexp2",
}
EXACT |= {"math.degrees", "math.radians", "math.sqrt", "math.fabs", "math.copysign", "math.fmod"}
EXACT |= {"math.nextafter", "math.remainder", "numpy.fmod", "cuda.fma"}

# numpy's own answer differs between machines
SIGN_OF_ZERO_OPEN = {"numpy.minimum", "numpy.maximum", "numpy.fmin", "numpy.fmax"}


def function(row: Intrinsic, dtype: DType, name: str, dialect: str) -> str:
    """A function of the row's parameters that returns its spelling."""
    spell = getattr(row, dialect)
    assert spell is not None
    text = print_expr(spell({p: Name(p) for p, _ in row.parameters}, dtype))
    types = [getattr(t, dialect) for t in types_of(row, dtype)]
    parameters = ", ".join(f"{t} {p}" for t, (p, _) in zip(types, row.parameters))
    qualifier = "__device__ " if dialect == "cuda" else ""
    result = getattr(result_type(row, dtype), dialect)
    return f"{qualifier}{result} {name}({parameters}) {{ return {text}; }}"


def program(dialect: str, cases: range = range(len(CASES))) -> str:
    """The functions of some cases, by their numbers, and the helpers that they call."""
    numbered = [(*CASES[i], NAMES[i]) for i in cases]
    spelled = [entry for entry in numbered if getattr(entry[0], dialect)]
    functions = "\n".join(function(row, dtype, n, dialect) for row, dtype, n in spelled)
    return "\n".join([*texts_of(helpers_in_text(functions), dialect), functions])


def headers() -> str:
    """Those that CUDA's spellings need."""
    result = dict.fromkeys(name for row, _ in CASES for name in row.cuda_headers)
    return "".join(f"#include <{name}>\n" for name in result)


def numbers(dtype: DType, seed: int, count: int) -> list[Any]:
    """The type's awkward values, and random ones."""
    rng = np.random.default_rng(seed)
    if dtype.is_complex:
        parts = [0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3]
        edges = [complex(x, y) for x in parts for y in parts]
        drawn = rng.normal(0, 2, count) + 1j * rng.normal(0, 2, count)
        return [dtype.numpy.type(value) for value in [*edges, *drawn]]
    if dtype.is_float:
        edges = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 7.0, 1e-3, 1e4, -7.25]
        edges += [np.inf, -np.inf, np.nan, 1e-40, 3e38, 2.0**31, -(2.0**40)]
        drawn = rng.normal(0, 8, count)
    else:
        low, high = dtype.minimum, dtype.maximum
        edges = [low, low + 1, 0, 1, 2, 3, 5, dtype.bits - 1, dtype.bits, high - 1, high]
        edges += [-1, -2, -7] if dtype.is_signed else []
        drawn = rng.integers(low, high, count, dtype=dtype.name, endpoint=True)
    with np.errstate(all="ignore"):
        return [dtype.numpy.type(value) for value in [*edges, *drawn]]


def arguments(row: Intrinsic, dtype: DType) -> list[tuple[Any, ...]]:
    if row.parameters[0] == ("n", "int") and len(row.parameters) == 2:
        return [(n, x) for x in numbers(dtype, 1, 30) for n in (0, 1, 2, 3, 9, -1)]
    if [kind for _, kind in row.parameters[1:]] == ["int"]:
        counts = (0, 1, 3, -1, -2, 9, *((-1074, 2**40) if row.name == "math.ldexp" else ()))
        return [(x, n) for x in numbers(dtype, 1, 30) for n in counts]
    if [kind for _, kind in row.parameters[2:]] == ["int"]:
        edges = numbers(dtype, 0, 0)
        return [(x, y, mask) for x, y in itertools.product(edges, repeat=2) for mask in (0, 1)]
    if len(row.parameters) == 1:
        return [(x,) for x in numbers(types_of(row, dtype)[0], 1, 200)]
    types, count = types_of(row, dtype), len(row.parameters)
    if len(set(types)) > 1:
        edges = itertools.product(*(numbers(t, i, 8) for i, t in enumerate(types)))
        return list(itertools.islice(edges, 0, None, 1 if count < 3 else 7))
    dtype = types[0]
    edges = itertools.product(numbers(dtype, 0, 0), repeat=2)
    padded = [(*pair, *pair[: count - 2]) for pair in edges]
    drawn = zip(*(numbers(dtype, seed, 200) for seed in range(1, count + 1)))
    return [*padded, *drawn]


# how far CUDA's guide lets a function of float32 and of float64 be off, in units in the last
# place; the CPU's functions keep to the same
UNITS: dict[str, tuple[float, float]] = {
    "acos": (2, 2), "acosh": (4, 3), "asin": (2, 2), "asinh": (3, 3), "atan": (2, 2),
    "atan2": (3, 2), "atanh": (3, 2), "cbrt": (1, 1), "cos": (2, 2), "cosh": (2, 1),
    "cospi": (1, 2), "cyl_bessel_i0": (6, 6), "cyl_bessel_i1": (6, 6), "erf": (2, 2),
    "erfc": (4, 5), "erfcinv": (4, 6), "erfcx": (4, 4), "erfinv": (2, 5), "exp": (2, 1),
    "exp10": (2, 1), "exp2": (2, 1), "expm1": (1, 1), "gamma": (5, 10), "hypot": (3, 2),
    "log": (1, 1), "log10": (2, 1), "log1p": (1, 1), "log2": (1, 1), "norm3d": (3, 2),
    "norm4d": (3, 2), "normcdf": (5, 5), "normcdfinv": (5, 8), "pow": (4, 2), "powi": (4, 2),
    "rcbrt": (1, 1), "rcp": (0, 0), "rhypot": (2, 1), "rnorm3d": (2, 1), "rnorm4d": (2, 1),
    "rsqrt": (2, 1), "sin": (2, 2), "sinh": (3, 2), "sinpi": (1, 2), "sqrt": (0, 0),
    "tan": (4, 2), "tanh": (2, 1),
}  # fmt: skip
OF_REFERENCE = 2  # numpy's own functions, and Python's


def units_allowed(row: Intrinsic, dtype: DType) -> float | None:
    """None where the guide bounds the absolute error, or says nothing."""
    room, _, name = row.name.rpartition(".")
    if room not in ("math", "cuda") or name not in UNITS or row.result != "F":
        return None
    return UNITS[name][dtype is not FLOAT32] + OF_REFERENCE


def units_apart(a: Any, b: Any, dtype: DType) -> float:
    make = dtype.numpy.type
    with np.errstate(all="ignore"):
        return float(abs(np.float64(a) - np.float64(b)) / np.float64(np.spacing(abs(make(a)))))


def same(a: Any, b: Any, row: Intrinsic, dtype: DType) -> bool:
    if isinstance(a, (complex, np.complexfloating)):
        tolerance = 1e-5 if dtype is COMPLEX64 else 1e-12
        return bool(not np.isfinite(a) or abs(a - b) <= max(abs(a), 1) * tolerance)
    if not isinstance(a, (float, np.floating)):
        return bool(a == b)
    if np.isnan(a) or np.isnan(b):
        return bool(np.isnan(a) and np.isnan(b))
    if row.name in SIGN_OF_ZERO_OPEN:
        return bool(a == b)
    if row.name in EXACT:
        return bool(a == b and np.signbit(a) == np.signbit(b))
    units = units_allowed(row, dtype)
    if units is not None and np.isfinite(a) and np.isfinite(b):
        return units_apart(a, b, dtype) <= units
    tolerance = 1e-5 if dtype.real is FLOAT32 else 1e-12
    return bool(np.isclose(a, b, rtol=tolerance, atol=tolerance))


def defined(row: Intrinsic, inputs: tuple[Any, ...]) -> bool:
    """Whether the answer is: not for int() of what no int64 holds.

    numpy takes the square root for a power of 0.5, which is NaN for -inf where C has inf.
    """
    if row.name in ("python.pow", "math.pow", "cuda.fast_powf"):
        return bool(inputs[1] != 0.5 or not np.isneginf(inputs[0]))
    into_int = row.result == "int" or row.name == "round_digits"
    if not into_int or isinstance(inputs[0], np.integer):
        return True
    return bool(np.isfinite(inputs[0]) and abs(inputs[0]) < 2**62)

"""Integer functions: Python's on ints, NumPy's in the type of the operands.

Where Python raises an exception, they return 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.dtypes import INT64, DType
from pycu2c.base.types import WEAK_INT
from pycu2c.base.values import convert, fits, scalar_of
from pycu2c.ops.intrinsics.builtins import INTEGERS
from pycu2c.ops.intrinsics.kinds import T
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import helper

WRAPS_TO_ZERO = 66  # 66! and every product of 66 neighbours is a multiple of 2**64


def _compute_or_zero(function: Callable[..., int], *numbers: Any) -> int:
    """Apply ``function`` to Python ints and wrap to 64 bits; 0 where Python raises."""
    try:
        return int(convert(function(*map(int, numbers)), WEAK_INT))
    except ValueError:
        return 0


def _factorial(n: int) -> int:
    return math.factorial(min(n, WRAPS_TO_ZERO))


def _permutations(n: int, k: int) -> int:
    return math.perm(n, k) if k < WRAPS_TO_ZERO else 0


def _combinations(n: int, k: int) -> int:
    """Return the binomial coefficient; 0 if it exceeds 64 bits, as for all k from 34 on."""
    fewest = min(k, n - k)
    ways = math.comb(n, fewest) if 0 <= fewest < 34 else 0
    return ways if fits(ways, WEAK_INT) else 0


def _declare(
    module: str, stem: str, body: Any, binding: object, dtypes: tuple[DType, ...]
) -> Intrinsic:
    return intrinsic(f"{module}.{stem}", dtypes=dtypes, spelling=helper(stem), bindings=(binding,))(
        body
    )


# Python's function, what it computes here, meaning
_UNARY: tuple[tuple[Any, Callable[[int], int], str], ...] = (
    (math.isqrt, math.isqrt, "The square root of an int, without its fraction."),
    (math.factorial, _factorial, "``1 * 2 * ... * n``, cut to 64 bits."),
)
_BINARY: tuple[tuple[Any, Callable[[int, int], int], str], ...] = (
    (math.gcd, math.gcd, "The greatest common divisor of two ints."),
    (math.lcm, math.lcm, "The least common multiple of two ints, cut to 64 bits."),
    (
        math.comb,
        _combinations,
        "The number of ways to choose ``b`` of ``a`` items; 0 over 64 bits.",
    ),
    (
        math.perm,
        _permutations,
        "The number of ordered selections of ``b`` of ``a`` items, cut to 64 bits.",
    ),
)


def _declare_unary(function: Any, compute: Callable[[int], int], doc: str) -> Intrinsic:
    def body(n: int) -> int:
        return _compute_or_zero(compute, n)

    body.__doc__ = doc
    return _declare("math", function.__name__, body, function, (INT64,))


def _declare_binary(function: Any, compute: Callable[[int, int], int], doc: str) -> Intrinsic:
    def body(a: int, b: int) -> int:
        return _compute_or_zero(compute, a, b)

    body.__doc__ = doc
    return _declare("math", function.__name__, body, function, (INT64,))


PYTHON_FUNCTIONS = tuple(_declare_unary(*entry) for entry in _UNARY) + tuple(
    _declare_binary(*entry) for entry in _BINARY
)


# f(f(a, b), c) if there are more than two arguments
FOLDED_FUNCTIONS = ("math.gcd", "math.lcm", "math.hypot")


def _declare_numpy(name: str, compute: Any, doc: str) -> Intrinsic:
    function = getattr(math, name)

    def body(a: T, b: T) -> T:
        scalar = scalar_of(a)
        assert scalar is not None
        return convert(function(int(a), int(b)), scalar)

    body.__doc__ = doc
    return _declare("numpy", name, body, compute, INTEGERS)


NUMPY_FUNCTIONS = (
    _declare_numpy("gcd", np.gcd, "The greatest common divisor, in the integers' type."),
    _declare_numpy("lcm", np.lcm, "The least common multiple, in the integers' type."),
)

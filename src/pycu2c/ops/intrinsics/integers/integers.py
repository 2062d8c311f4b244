"""Integer functions: Python's on ints, NumPy's in the type of the operands.

Where Python raises an exception, they return 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import INT64
from pycu2c.base.types import WEAK_INT
from pycu2c.base.values import convert, fits, scalar_of
from pycu2c.ops.intrinsics.builtins import INTEGERS
from pycu2c.ops.intrinsics.registry import declare
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


def _in_type(function: Callable[[int, int], int], a: Any, b: Any) -> Any:
    scalar = scalar_of(a)
    assert scalar is not None
    return convert(function(int(a), int(b)), scalar)


_ONE, _TWO = "n: int -> int", "a: int, b: int -> int"
# Python's function, signature, what it computes here, meaning
for _python, _signature, _compute, _doc in (
    (math.isqrt, _ONE, math.isqrt, "The square root of an int, without its fraction."),
    (math.factorial, _ONE, _factorial, "``1 * 2 * ... * n``, cut to 64 bits."),
    (math.gcd, _TWO, math.gcd, "The greatest common divisor of two ints."),
    (math.lcm, _TWO, math.lcm, "The least common multiple of two ints, cut to 64 bits."),
    (
        math.comb,
        _TWO,
        _combinations,
        "The number of ways to choose ``b`` of ``a`` items; 0 over 64 bits.",
    ),
    (
        math.perm,
        _TWO,
        _permutations,
        "The number of ordered selections of ``b`` of ``a`` items, cut to 64 bits.",
    ),
):
    declare(
        __name__,
        f"math.{_python.__name__}",
        _signature,
        partial(_compute_or_zero, _compute),
        _doc,
        dtypes=(INT64,),
        spelling=helper(_python.__name__),
        bindings=(_python,),
    )

for _ufunc, _python, _doc in (
    (np.gcd, math.gcd, "The greatest common divisor, in the integers' type."),
    (np.lcm, math.lcm, "The least common multiple, in the integers' type."),
):
    declare(
        __name__,
        f"numpy.{_python.__name__}",
        "a: T, b: T -> T",
        partial(_in_type, _python),
        _doc,
        dtypes=INTEGERS,
        spelling=helper(_python.__name__),
        bindings=(_ufunc,),
    )

# f(f(a, b), c) if there are more than two arguments
FOLDED_FUNCTIONS = ("math.gcd", "math.lcm", "math.hypot")

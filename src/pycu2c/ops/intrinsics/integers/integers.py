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

MULTIPLES_OF_ALL = 66  # 66! and every product of 66 neighbours is a multiple of 2**64


def _or_zero(function: Callable[..., int], *numbers: Any) -> int:
    """Apply ``function`` to Python ints and wrap to 64 bits; 0 where Python raises."""
    try:
        return int(convert(function(*map(int, numbers)), WEAK_INT))
    except ValueError:
        return 0


def _factorial(n: int) -> int:
    return math.factorial(min(n, MULTIPLES_OF_ALL))


def _arranged(n: int, k: int) -> int:
    return math.perm(n, k) if k < MULTIPLES_OF_ALL else 0


def _chosen(n: int, k: int) -> int:
    """Return the binomial coefficient; 0 if it exceeds 64 bits, as for all k from 34 on."""
    fewest = min(k, n - k)
    ways = math.comb(n, fewest) if 0 <= fewest < 34 else 0
    return ways if fits(ways, WEAK_INT) else 0


def _declare(
    room: str, stem: str, body: Any, binding: object, dtypes: tuple[DType, ...]
) -> Intrinsic:
    return intrinsic(
        f"{room}.{stem}",
        dtypes=dtypes,
        cuda=helper(stem),
        c=helper(stem),
        cuda_helpers=(stem,),
        c_helpers=(stem,),
        bindings=(binding,),
    )(body)


# Python's function, what it computes here, meaning
_OF_ONE: tuple[tuple[Any, Callable[[int], int], str], ...] = (
    (math.isqrt, math.isqrt, "The square root of an int, without its fraction."),
    (math.factorial, _factorial, "``1 * 2 * ... * n``, cut to 64 bits."),
)
_OF_TWO: tuple[tuple[Any, Callable[[int, int], int], str], ...] = (
    (math.gcd, math.gcd, "The greatest common divisor of two ints."),
    (math.lcm, math.lcm, "The least common multiple of two ints, cut to 64 bits."),
    (math.comb, _chosen, "In how many ways ``b`` of ``a`` things are chosen; 0 over 64 bits."),
    (math.perm, _arranged, "In how many ways ``b`` of ``a`` things are ordered, cut to 64 bits."),
)


def _of_one(function: Any, compute: Callable[[int], int], doc: str) -> Intrinsic:
    def body(n: int) -> int:
        return _or_zero(compute, n)

    body.__doc__ = doc
    return _declare("math", function.__name__, body, function, (INT64,))


def _of_two(function: Any, compute: Callable[[int, int], int], doc: str) -> Intrinsic:
    def body(a: int, b: int) -> int:
        return _or_zero(compute, a, b)

    body.__doc__ = doc
    return _declare("math", function.__name__, body, function, (INT64,))


PYTHONS = tuple(_of_one(*entry) for entry in _OF_ONE) + tuple(_of_two(*entry) for entry in _OF_TWO)


# of more than two numbers: f(f(a, b), c)
FOLDING = ("math.gcd", "math.lcm", "math.hypot")


def _numpys(name: str, compute: Any, doc: str) -> Intrinsic:
    function = getattr(math, name)

    def body(a: T, b: T) -> T:
        scalar = scalar_of(a)
        assert scalar is not None
        return convert(function(int(a), int(b)), scalar)

    body.__doc__ = doc
    return _declare("numpy", name, body, compute, INTEGERS)


NUMPYS = (
    _numpys("gcd", np.gcd, "The greatest common divisor, in the integers' type."),
    _numpys("lcm", np.lcm, "The least common multiple, in the integers' type."),
)

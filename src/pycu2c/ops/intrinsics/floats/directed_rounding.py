"""Arithmetic of floats rounded in a direction of its own: CUDA's ``__fadd_rd`` and its like.

None of it is fused with what stands around it, nor reordered: what intervals are computed with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, DType
from pycu2c.ops.intrinsics.floats.exact_rounding import (
    MODES,
    SAID,
    Mode,
    fraction,
    rounded,
    square_root,
)
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import plain

_LETTERS = {FLOAT32: "f", FLOAT64: "d"}


def _computed(
    plainly: Callable[..., Any], exactly: Callable[..., Any], row: DType, mode: Mode, *numbers: Any
) -> Any:
    """``exactly`` in fractions, where they say what the result is; else as numpy does it."""
    given = [row.numpy.type(n) for n in numbers]
    with np.errstate(all="ignore"):
        usual = row.numpy.type(plainly(*given))
        if not all(map(math.isfinite, given)):
            return usual
        try:
            exact = exactly(*map(fraction, given))
        except ZeroDivisionError:
            return usual
    if exact:
        return rounded(exact, row, mode)
    # of what cancels out, the sign is the direction's
    return row.numpy.type(-0.0) if mode == "rd" and _cancels(plainly, given) else usual


def _cancels(plainly: Callable[..., Any], given: list[Any]) -> bool:
    """Whether a sum is 0 of terms that have not both the sign of the zero."""
    if plainly is np.add:
        return bool(np.signbit(given[0]) != np.signbit(given[1]))
    if plainly is np.subtract:
        return bool(np.signbit(given[0]) == np.signbit(given[1]))
    if plainly is _multiply_and_add:
        product = np.signbit(given[0]) != np.signbit(given[1])
        return bool(product != np.signbit(given[2]))
    return False


def _multiply_and_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


_OF_TWO: tuple[tuple[str, Any, Callable[[Any, Any], Any], str], ...] = (
    ("add", np.add, lambda a, b: a + b, "``a + b``"),
    ("sub", np.subtract, lambda a, b: a - b, "``a - b``"),
    ("mul", np.multiply, lambda a, b: a * b, "``a * b``"),
    ("div", np.divide, lambda a, b: a / b, "``a / b``"),
)


def _declare(name: str, row: DType, body: Callable[..., Any], doc: str) -> Intrinsic:
    body.__doc__ = doc
    notes = body.__annotations__
    body.__annotations__ = dict.fromkeys(notes, row.name)
    return intrinsic(
        f"cuda.{name}",
        cuda=plain(f"__{name}"),
        c=plain(name),
        c_helpers=(name,),
    )(body)


def _of_two(stem: str, plainly: Any, exactly: Any, said: str, row: DType, mode: Mode) -> Intrinsic:
    def body(a: Any, b: Any) -> Any:
        return _computed(plainly, exactly, row, mode, a, b)

    return _declare(f"{_LETTERS[row]}{stem}_{mode}", row, body, f"{said}, rounded {SAID[mode]}.")


def _fused(row: DType, mode: Mode) -> Intrinsic:
    def body(a: Any, b: Any, c: Any) -> Any:
        return _computed(_multiply_and_add, lambda x, y, z: x * y + z, row, mode, a, b, c)

    name = f"fma{'f' * (row is FLOAT32)}_{mode}"
    return _declare(name, row, body, f"``a * b + c``, rounded once, {SAID[mode]}.")


def _reciprocal(row: DType, mode: Mode) -> Intrinsic:
    def body(x: Any) -> Any:
        return _computed(np.reciprocal, lambda a: 1 / a, row, mode, x)

    return _declare(f"{_LETTERS[row]}rcp_{mode}", row, body, f"``1 / x``, rounded {SAID[mode]}.")


def _root(row: DType, mode: Mode) -> Intrinsic:
    def body(x: Any) -> Any:
        value: Any = row.numpy.type(x)
        with np.errstate(all="ignore"):
            usual = np.sqrt(value)
        is_usual = not math.isfinite(value) or value <= 0
        return usual if is_usual else square_root(fraction(value), row, mode)

    doc = f"The square root, rounded {SAID[mode]}."
    return _declare(f"{_LETTERS[row]}sqrt_{mode}", row, body, doc)


def _inverse_root(x: Any) -> Any:
    value = np.float32(x)
    with np.errstate(all="ignore"):
        usual = np.float32(1) / np.sqrt(value)
    is_usual = not math.isfinite(value) or value <= 0
    return usual if is_usual else square_root(1 / fraction(value), FLOAT32, "rn")


_inverse_root.__annotations__ = {"x": "", "return": ""}

DIRECTED = tuple(
    made
    for row in (FLOAT32, FLOAT64)
    for mode in MODES
    for made in (
        *(_of_two(*entry, row, mode) for entry in _OF_TWO),
        _fused(row, mode),
        _reciprocal(row, mode),
        _root(row, mode),
    )
)
INVERSE_ROOT = _declare(
    "frsqrt_rn", FLOAT32, _inverse_root, f"``1 / sqrt(x)``, rounded {SAID['rn']}."
)

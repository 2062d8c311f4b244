"""Float arithmetic with a rounding mode: CUDA's ``__fadd_rd`` and others.

The operations are neither contracted nor reordered, as interval arithmetic requires.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, DType
from pycu2c.ops.intrinsics.floats.exact_rounding import (
    MODE_TEXT,
    ROUNDING_MODES,
    RoundingMode,
    fraction,
    rounded,
    square_root,
)
from pycu2c.ops.intrinsics.registry import declare
from pycu2c.ops.intrinsics.spelling import overloaded

_LETTERS = {FLOAT32: "f", FLOAT64: "d"}


def _compute_rounded(
    compute: Callable[..., Any],
    compute_exactly: Callable[..., Any],
    dtype: DType,
    mode: RoundingMode,
    *numbers: Any,
) -> Any:
    """Round the exact result, or return that of ``compute`` if no exact result is defined."""
    operands = [dtype.numpy.type(n) for n in numbers]
    with np.errstate(all="ignore"):
        nearest = dtype.numpy.type(compute(*operands))
        if not all(map(math.isfinite, operands)):
            return nearest
        try:
            exact = compute_exactly(*map(fraction, operands))
        except ZeroDivisionError:
            return nearest
    if exact:
        return rounded(exact, dtype, mode)
    # a sum whose terms cancel is -0 if it is rounded down
    return dtype.numpy.type(-0.0) if mode == "rd" and _cancels(compute, operands) else nearest


def _cancels(compute: Callable[..., Any], operands: list[Any]) -> bool:
    """Return whether a sum is 0 because its terms cancel."""
    if compute is np.add:
        return bool(np.signbit(operands[0]) != np.signbit(operands[1]))
    if compute is np.subtract:
        return bool(np.signbit(operands[0]) == np.signbit(operands[1]))
    if compute is _multiply_and_add:
        product = np.signbit(operands[0]) != np.signbit(operands[1])
        return bool(product != np.signbit(operands[2]))
    return False


def _multiply_and_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _round_square_root(dtype: DType, mode: RoundingMode, x: Any) -> Any:
    value: Any = dtype.numpy.type(x)
    with np.errstate(all="ignore"):
        nearest = np.sqrt(value)
    is_special = not math.isfinite(value) or value <= 0
    return nearest if is_special else square_root(fraction(value), dtype, mode)


def _inverse_square_root(x: Any) -> Any:
    value = np.float32(x)
    with np.errstate(all="ignore"):
        nearest = np.float32(1) / np.sqrt(value)
    is_special = not math.isfinite(value) or value <= 0
    return nearest if is_special else square_root(1 / fraction(value), FLOAT32, "rn")


def _declare(
    name: str, parameters: str, dtype: DType, compute: Callable[..., Any], doc: str
) -> None:
    """Declare a function of floats of one type; each parameter has one letter."""
    listed = ", ".join(f"{parameter}: {dtype}" for parameter in parameters)
    declare(
        __name__,
        f"cuda.{name}",
        f"{listed} -> {dtype}",
        compute,
        doc,
        cuda=overloaded(f"__{name}"),
        c=overloaded(name),
    )


# name, parameters, what computes it, and exactly with fractions, and a formula
_OPERATIONS: tuple[tuple[str, str, Any, Callable[..., Any], str], ...] = (
    ("add", "ab", np.add, lambda a, b: a + b, "``a + b``"),
    ("sub", "ab", np.subtract, lambda a, b: a - b, "``a - b``"),
    ("mul", "ab", np.multiply, lambda a, b: a * b, "``a * b``"),
    ("div", "ab", np.divide, lambda a, b: a / b, "``a / b``"),
    ("rcp", "x", np.reciprocal, lambda a: 1 / a, "``1 / x``"),
)


def _declare_all(dtype: DType, mode: RoundingMode) -> None:
    letter, how = _LETTERS[dtype], MODE_TEXT[mode]
    for stem, parameters, compute, compute_exactly, formula in _OPERATIONS:
        rounded_result = partial(_compute_rounded, compute, compute_exactly, dtype, mode)
        doc = f"{formula}, rounded {how}."
        _declare(f"{letter}{stem}_{mode}", parameters, dtype, rounded_result, doc)
    fma = partial(_compute_rounded, _multiply_and_add, _multiply_and_add, dtype, mode)
    name = f"fma{'f' * (dtype is FLOAT32)}_{mode}"
    _declare(name, "abc", dtype, fma, f"``a * b + c``, rounded once, {how}.")
    root = partial(_round_square_root, dtype, mode)
    _declare(f"{letter}sqrt_{mode}", "x", dtype, root, f"The square root, rounded {how}.")


for _dtype in _LETTERS:
    for _mode in ROUNDING_MODES:
        _declare_all(_dtype, _mode)
_declare(
    "frsqrt_rn",
    "x",
    FLOAT32,
    _inverse_square_root,
    f"``1 / sqrt(x)``, rounded {MODE_TEXT['rn']}.",
)

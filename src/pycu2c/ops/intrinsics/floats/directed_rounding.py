"""Float arithmetic with a rounding mode: CUDA's ``__fadd_rd`` and others.

The operations are neither contracted nor reordered, as interval arithmetic requires.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
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


_BINARY: tuple[tuple[str, Any, Callable[[Any, Any], Any], str], ...] = (
    ("add", np.add, lambda a, b: a + b, "``a + b``"),
    ("sub", np.subtract, lambda a, b: a - b, "``a - b``"),
    ("mul", np.multiply, lambda a, b: a * b, "``a * b``"),
    ("div", np.divide, lambda a, b: a / b, "``a / b``"),
)


def _declare(name: str, dtype: DType, body: Callable[..., Any], doc: str) -> Intrinsic:
    body.__doc__ = doc
    body.__annotations__ = dict.fromkeys(body.__annotations__, dtype.name)
    return intrinsic(f"cuda.{name}", cuda=overloaded(f"__{name}"), c=overloaded(name))(body)


def _declare_binary(
    stem: str, compute: Any, compute_exactly: Any, formula: str, dtype: DType, mode: RoundingMode
) -> Intrinsic:
    def body(a: Any, b: Any) -> Any:
        return _compute_rounded(compute, compute_exactly, dtype, mode, a, b)

    return _declare(
        f"{_LETTERS[dtype]}{stem}_{mode}", dtype, body, f"{formula}, rounded {MODE_TEXT[mode]}."
    )


def _declare_fma(dtype: DType, mode: RoundingMode) -> Intrinsic:
    def body(a: Any, b: Any, c: Any) -> Any:
        return _compute_rounded(_multiply_and_add, lambda x, y, z: x * y + z, dtype, mode, a, b, c)

    name = f"fma{'f' * (dtype is FLOAT32)}_{mode}"
    return _declare(name, dtype, body, f"``a * b + c``, rounded once, {MODE_TEXT[mode]}.")


def _declare_reciprocal(dtype: DType, mode: RoundingMode) -> Intrinsic:
    def body(x: Any) -> Any:
        return _compute_rounded(np.reciprocal, lambda a: 1 / a, dtype, mode, x)

    return _declare(
        f"{_LETTERS[dtype]}rcp_{mode}", dtype, body, f"``1 / x``, rounded {MODE_TEXT[mode]}."
    )


def _declare_square_root(dtype: DType, mode: RoundingMode) -> Intrinsic:
    def body(x: Any) -> Any:
        value: Any = dtype.numpy.type(x)
        with np.errstate(all="ignore"):
            nearest = np.sqrt(value)
        is_special = not math.isfinite(value) or value <= 0
        return nearest if is_special else square_root(fraction(value), dtype, mode)

    doc = f"The square root, rounded {MODE_TEXT[mode]}."
    return _declare(f"{_LETTERS[dtype]}sqrt_{mode}", dtype, body, doc)


def _inverse_square_root(x: Any) -> Any:
    value = np.float32(x)
    with np.errstate(all="ignore"):
        nearest = np.float32(1) / np.sqrt(value)
    is_special = not math.isfinite(value) or value <= 0
    return nearest if is_special else square_root(1 / fraction(value), FLOAT32, "rn")


_inverse_square_root.__annotations__ = {"x": "", "return": ""}  # _declare sets the types

DIRECTED_ROUNDING = tuple(
    declared
    for dtype in (FLOAT32, FLOAT64)
    for mode in ROUNDING_MODES
    for declared in (
        *(_declare_binary(*entry, dtype, mode) for entry in _BINARY),
        _declare_fma(dtype, mode),
        _declare_reciprocal(dtype, mode),
        _declare_square_root(dtype, mode),
    )
)
INVERSE_SQUARE_ROOT = _declare(
    "frsqrt_rn", FLOAT32, _inverse_square_root, f"``1 / sqrt(x)``, rounded {MODE_TEXT['rn']}."
)

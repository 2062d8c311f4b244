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
    MODES,
    Mode,
    fraction,
    rounded,
    square_root,
)
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded

_LETTERS = {FLOAT32: "f", FLOAT64: "d"}


def _computed(
    plainly: Callable[..., Any],
    exactly: Callable[..., Any],
    dtype: DType,
    mode: Mode,
    *numbers: Any,
) -> Any:
    """Apply ``exactly`` to fractions where it defines the result, else compute as NumPy does."""
    given = [dtype.numpy.type(n) for n in numbers]
    with np.errstate(all="ignore"):
        usual = dtype.numpy.type(plainly(*given))
        if not all(map(math.isfinite, given)):
            return usual
        try:
            exact = exactly(*map(fraction, given))
        except ZeroDivisionError:
            return usual
    if exact:
        return rounded(exact, dtype, mode)
    # of what cancels out, the sign is the direction's
    return dtype.numpy.type(-0.0) if mode == "rd" and _cancels(plainly, given) else usual


def _cancels(plainly: Callable[..., Any], operands: list[Any]) -> bool:
    """Return whether a sum is 0 because its terms cancel."""
    if plainly is np.add:
        return bool(np.signbit(operands[0]) != np.signbit(operands[1]))
    if plainly is np.subtract:
        return bool(np.signbit(operands[0]) == np.signbit(operands[1]))
    if plainly is _multiply_and_add:
        product = np.signbit(operands[0]) != np.signbit(operands[1])
        return bool(product != np.signbit(operands[2]))
    return False


def _multiply_and_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


_OF_TWO: tuple[tuple[str, Any, Callable[[Any, Any], Any], str], ...] = (
    ("add", np.add, lambda a, b: a + b, "``a + b``"),
    ("sub", np.subtract, lambda a, b: a - b, "``a - b``"),
    ("mul", np.multiply, lambda a, b: a * b, "``a * b``"),
    ("div", np.divide, lambda a, b: a / b, "``a / b``"),
)


def _declare(name: str, dtype: DType, body: Callable[..., Any], doc: str) -> Intrinsic:
    body.__doc__ = doc
    notes = body.__annotations__
    body.__annotations__ = dict.fromkeys(notes, dtype.name)
    return intrinsic(
        f"cuda.{name}",
        cuda=overloaded(f"__{name}"),
        c=overloaded(name),
        c_helpers=(name,),
    )(body)


def _of_two(
    stem: str, plainly: Any, exactly: Any, said: str, dtype: DType, mode: Mode
) -> Intrinsic:
    def body(a: Any, b: Any) -> Any:
        return _computed(plainly, exactly, dtype, mode, a, b)

    return _declare(
        f"{_LETTERS[dtype]}{stem}_{mode}", dtype, body, f"{said}, rounded {MODE_TEXT[mode]}."
    )


def _fused(dtype: DType, mode: Mode) -> Intrinsic:
    def body(a: Any, b: Any, c: Any) -> Any:
        return _computed(_multiply_and_add, lambda x, y, z: x * y + z, dtype, mode, a, b, c)

    name = f"fma{'f' * (dtype is FLOAT32)}_{mode}"
    return _declare(name, dtype, body, f"``a * b + c``, rounded once, {MODE_TEXT[mode]}.")


def _reciprocal(dtype: DType, mode: Mode) -> Intrinsic:
    def body(x: Any) -> Any:
        return _computed(np.reciprocal, lambda a: 1 / a, dtype, mode, x)

    return _declare(
        f"{_LETTERS[dtype]}rcp_{mode}", dtype, body, f"``1 / x``, rounded {MODE_TEXT[mode]}."
    )


def _root(dtype: DType, mode: Mode) -> Intrinsic:
    def body(x: Any) -> Any:
        value: Any = dtype.numpy.type(x)
        with np.errstate(all="ignore"):
            usual = np.sqrt(value)
        is_usual = not math.isfinite(value) or value <= 0
        return usual if is_usual else square_root(fraction(value), dtype, mode)

    doc = f"The square root, rounded {MODE_TEXT[mode]}."
    return _declare(f"{_LETTERS[dtype]}sqrt_{mode}", dtype, body, doc)


def _inverse_root(x: Any) -> Any:
    value = np.float32(x)
    with np.errstate(all="ignore"):
        usual = np.float32(1) / np.sqrt(value)
    is_usual = not math.isfinite(value) or value <= 0
    return usual if is_usual else square_root(1 / fraction(value), FLOAT32, "rn")


_inverse_root.__annotations__ = {"x": "", "return": ""}

DIRECTED = tuple(
    made
    for dtype in (FLOAT32, FLOAT64)
    for mode in MODES
    for made in (
        *(_of_two(*entry, dtype, mode) for entry in _OF_TWO),
        _fused(dtype, mode),
        _reciprocal(dtype, mode),
        _root(dtype, mode),
    )
)
INVERSE_ROOT = _declare(
    "frsqrt_rn", FLOAT32, _inverse_root, f"``1 / sqrt(x)``, rounded {MODE_TEXT['rn']}."
)

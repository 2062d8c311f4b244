"""Numbers as text: elements of arrays, numpy's scalars, Python's, and whole arrays of them."""

from __future__ import annotations

import math
import random

import numpy as np

from fuzzing.writing import Scalar
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_INT

_SPECIAL = ("inf", "-inf", "nan", "-0.0", "1e30", "-1e-30", "16777217.0", "2147483648.0", "1e-40")


def dtype_text(kind: Scalar) -> str:
    """numpy's name of a type, as the module of a case has it."""
    row = kind.dtype
    if row.name == "bfloat16":
        return "ml_dtypes.bfloat16"
    return "np.bool_" if row.kind is DTypeKind.BOOL else f"np.{row}"


def element_text(rng: random.Random, kind: Scalar) -> str:
    """A number as an element of an array's list."""
    row = kind.dtype
    if row.kind is DTypeKind.BOOL:
        return rng.choice(("True", "False"))
    if row.is_complex:
        bits = row.bits // 2
        return f"complex({_float_text(rng, bits)}, {_float_text(rng, bits)})"
    if row.is_float:
        return _float_text(rng, row.bits)
    if rng.random() < 0.2:
        half = row.maximum // 2 + rng.randint(0, 1)
        ends = (row.minimum, row.maximum, row.maximum - 1, row.minimum + 1, half)
        return str(rng.choice(ends))
    return str(rng.randint(max(row.minimum, -9), 20))


def _float_text(rng: random.Random, bits: int) -> str:
    if rng.random() < 0.1:
        return rng.choice(_SPECIAL[:4] if bits < 32 else _SPECIAL)
    if rng.random() < 0.5:
        return str(rng.randint(-40, 40) / 4)
    number = rng.uniform(-10, 10)
    return repr(float(np.float32(number)) if bits == 32 else number)


def scalar_text(rng: random.Random, kind: Scalar) -> str:
    """A numpy scalar, which is strong, or a number of Python's."""
    if not kind.weak:
        return f"{dtype_text(kind)}({element_text(rng, kind)})"
    if kind == WEAK_BOOL:
        return rng.choice(("True", "False"))
    if kind == WEAK_INT:
        return str(rng.choice((0, 1, 2, 3, 7, 100, rng.randint(-50, 1000))))
    if kind == WEAK_COMPLEX:
        return f"complex({_float_text(rng, 64)}, {_float_text(rng, 64)})"
    return _float_text(rng, 64)


def array_text(rng: random.Random, kind: Scalar, shape: tuple[int, ...]) -> str:
    """``np.array([…], np.int8)``, seen so that the shape comes out."""
    base, view = _view_of(rng, shape)
    numbers = ", ".join(element_text(rng, kind) for _ in range(math.prod(base)))
    shown = f"np.array([{numbers}], {dtype_text(kind)})"
    if len(base) > 1:
        shown += f".reshape{base}"
    return shown + view


def _view_of(rng: random.Random, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    plain = (shape, "")
    if rng.random() < 0.5:
        return plain
    rest = shape[1:]
    rows = [
        plain,
        ((2 * shape[0], *rest), "[::2]"),
        (shape, "[::-1]"),
        ((shape[0] + 2, *rest), "[1:-1]"),
        (tuple(reversed(shape)), ".T"),
        ((*shape[:-1], 2 * shape[-1]), f"[{':, ' * len(rest)}::-2]"),
        ((*shape[:-1], shape[-1] + 1), f"[{':, ' * len(rest)}1:]"),
    ]
    return rng.choice(rows)

"""CUDA's SIMD intrinsics: arithmetic on 2 numbers of 16 bits or 4 of 8 bits, ``cuda.vadd4``.

``codegen/helpers/integer_helpers.py`` writes the C helpers from the same operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.ops.intrinsics.integers.bits import split_word
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded

# ---- the operations ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """The operation on each pair of parts ``a`` and ``b``; ``c`` is the formula in C.

    Results out of range wrap, or are clamped if the operation ``saturates``.
    """

    name: str
    doc: str
    signed: bool
    compute: Callable[[int, int], int]
    c: str
    saturates: bool = False
    parameter_count: int = 2


def _average_down(a: int, b: int) -> int:
    return (a + b) >> 1


def _average_up(a: int, b: int) -> int:
    return (a + b + 1) >> 1


def _average_away_from_0(a: int, b: int) -> int:
    return (a + b + (a + b >= 0)) >> 1


_AVERAGE_AWAY_FROM_0 = "(a + b + (a + b >= 0)) >> 1"


def _signed_and_unsigned(
    stem: str, doc: str, compute: Callable[[int, int], int], formula: str
) -> tuple[Operation, ...]:
    """Return the operation on signed parts and on unsigned parts."""
    return (
        Operation(f"{stem}s", doc, True, compute, formula),
        Operation(f"{stem}u", doc, False, compute, formula),
    )


_COMPARISONS: tuple[tuple[str, Callable[[int, int], int], str], ...] = (
    ("ge", lambda a, b: a >= b, "a >= b"),
    ("gt", lambda a, b: a > b, "a > b"),
    ("le", lambda a, b: a <= b, "a <= b"),
    ("lt", lambda a, b: a < b, "a < b"),
)
_EQUALITY: tuple[tuple[str, Callable[[int, int], int], str], ...] = (
    ("eq", lambda a, b: a == b, "a == b"),
    ("ne", lambda a, b: a != b, "a != b"),
)


def _all_bits(holds: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: -int(holds(a, b))


def _zero_or_one(holds: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: int(holds(a, b))


def _comparison_operations() -> list[Operation]:
    """Return the comparisons: ``vcmp…`` sets all bits of a part, ``vset…`` sets it to 1."""
    operations = []
    for name, holds, formula in _EQUALITY:
        operations.append(
            Operation(
                f"vcmp{name}",
                f"All bits where ``{formula}``",
                False,
                _all_bits(holds),
                f"-({formula})",
            )
        )
        operations.append(
            Operation(f"vset{name}", f"1 where ``{formula}``", False, _zero_or_one(holds), formula)
        )
    for name, holds, formula in _COMPARISONS:
        condition = f"where ``{formula}``"
        operations += _signed_and_unsigned(
            f"vcmp{name}", f"All bits {condition}", _all_bits(holds), f"-({formula})"
        )
        operations += _signed_and_unsigned(
            f"vset{name}", f"1 {condition}", _zero_or_one(holds), formula
        )
    return operations


OPERATIONS: tuple[Operation, ...] = (
    Operation("vadd", "``a + b``", False, lambda a, b: a + b, "a + b"),
    Operation("vaddss", "``a + b``", True, lambda a, b: a + b, "a + b", True),
    Operation("vaddus", "``a + b``", False, lambda a, b: a + b, "a + b", True),
    Operation("vsub", "``a - b``", False, lambda a, b: a - b, "a - b"),
    Operation("vsubss", "``a - b``", True, lambda a, b: a - b, "a - b", True),
    Operation("vsubus", "``a - b``", False, lambda a, b: a - b, "a - b", True),
    Operation("vabs", "``|a|``", True, lambda a, _: abs(a), "a < 0 ? -a : a", False, 1),
    Operation("vabsss", "``|a|``", True, lambda a, _: abs(a), "a < 0 ? -a : a", True, 1),
    Operation("vneg", "``-a``", True, lambda a, _: -a, "-a", False, 1),
    Operation("vnegss", "``-a``", True, lambda a, _: -a, "-a", True, 1),
    *_signed_and_unsigned(
        "vabsdiff", "``|a - b|``", lambda a, b: abs(a - b), "a < b ? b - a : a - b"
    ),
    Operation(
        "vavgs",
        "The average of a and b, rounded away from 0",
        True,
        _average_away_from_0,
        _AVERAGE_AWAY_FROM_0,
    ),
    Operation(
        "vavgu", "The average of a and b, rounded up", False, _average_up, "(a + b + 1) >> 1"
    ),
    Operation(
        "vhaddu", "The average of a and b, rounded down", False, _average_down, "(a + b) >> 1"
    ),
    *_signed_and_unsigned("vmax", "The greater of a and b", max, "a > b ? a : b"),
    *_signed_and_unsigned("vmin", "The lesser of a and b", min, "a < b ? a : b"),
    *_comparison_operations(),
)


# ---- intrinsics ----------------------------------------------------------------------------------


def _compute_word(op: Operation, bits: int, x: Any, y: Any) -> Any:
    pairs = zip(split_word(int(x), bits, op.signed), split_word(int(y), bits, op.signed))
    minimum, maximum = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if op.signed else (0, (1 << bits) - 1)
    )
    word = 0
    for position, (a, b) in enumerate(pairs):
        value = op.compute(a, b)
        value = min(max(value, minimum), maximum) if op.saturates else value
        word |= (value & ((1 << bits) - 1)) << position * bits
    return np.uint32(word)


def _declare(name: str, body: Callable[..., Any], doc: str, parameter_count: int) -> Intrinsic:
    body.__doc__ = doc
    body.__annotations__ = dict.fromkeys(("x", "y")[:parameter_count], "uint32") | {
        "return": "uint32"
    }
    return intrinsic(f"cuda.{name}", cuda=overloaded(f"__{name}"), c=overloaded(name))(body)


def _declare_packed(op: Operation, count: int) -> Intrinsic:
    bits = 32 // count

    def unary(x: Any) -> Any:
        return _compute_word(op, bits, x, 0)

    def binary(x: Any, y: Any) -> Any:
        return _compute_word(op, bits, x, y)

    kind = "with a sign" if op.signed else "without a sign"
    saturation = ", saturating" if op.saturates else ""
    doc = f"{op.doc}, of {count} numbers of {bits} bits {kind} each{saturation}."
    return _declare(
        f"{op.name}{count}", unary if op.parameter_count == 1 else binary, doc, op.parameter_count
    )


def _sum_of_differences(count: int, signed: bool) -> Intrinsic:
    bits = 32 // count

    def body(x: Any, y: Any) -> Any:
        pairs = zip(split_word(int(x), bits, signed), split_word(int(y), bits, signed))
        return np.uint32(sum(abs(a - b) for a, b in pairs))

    kind = "with a sign" if signed else "without a sign"
    doc = f"The sum of ``|a - b|``, of {count} numbers of {bits} bits {kind} each."
    return _declare(f"vsad{'s' if signed else 'u'}{count}", body, doc, 2)


PACKED = tuple(_declare_packed(op, count) for op in OPERATIONS for count in (2, 4))
SUMS = tuple(_sum_of_differences(count, signed) for count in (2, 4) for signed in (True, False))

"""The operations of CUDA's SIMD-in-a-word functions, as a table of formulas."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """What is computed of each pair of parts ``a`` and ``b``: of numbers with a sign or without;
    ``c`` is the formula in C. Results out of range wrap, or, ``saturates``, are the nearer end."""

    name: str
    said: str
    signed: bool
    compute: Callable[[int, int], int]
    c: str
    saturates: bool = False
    takes: int = 2


def _floor_half(a: int, b: int) -> int:
    return (a + b) >> 1


def _ceil_half(a: int, b: int) -> int:
    return (a + b + 1) >> 1


def _away(a: int, b: int) -> int:
    return (a + b + (a + b >= 0)) >> 1


_AWAY = "(a + b + (a + b >= 0)) >> 1"


def _signs(
    stem: str, said: str, compute: Callable[[int, int], int], formula: str
) -> tuple[Operation, ...]:
    """The forms with a sign and without one."""
    return (
        Operation(f"{stem}s", said, True, compute, formula),
        Operation(f"{stem}u", said, False, compute, formula),
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


def _masks(holds: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: -int(holds(a, b))


def _flags(holds: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: int(holds(a, b))


def _compared() -> list[Operation]:
    """``vcmp…``: all bits of a part; ``vset…``: 1."""
    found = []
    for name, holds, formula in _EQUALITY:
        found.append(
            Operation(
                f"vcmp{name}",
                f"All bits where ``{formula}``",
                False,
                _masks(holds),
                f"-({formula})",
            )
        )
        found.append(
            Operation(f"vset{name}", f"1 where ``{formula}``", False, _flags(holds), formula)
        )
    for name, holds, formula in _COMPARISONS:
        said = f"where ``{formula}``"
        found += _signs(f"vcmp{name}", f"All bits {said}", _masks(holds), f"-({formula})")
        found += _signs(f"vset{name}", f"1 {said}", _flags(holds), formula)
    return found


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
    *_signs("vabsdiff", "``|a - b|``", lambda a, b: abs(a - b), "a < b ? b - a : a - b"),
    Operation("vavgs", "The average of a and b, rounded away from 0", True, _away, _AWAY),
    Operation("vavgu", "The average of a and b, rounded up", False, _ceil_half, "(a + b + 1) >> 1"),
    Operation("vhaddu", "The average of a and b, rounded down", False, _floor_half, "(a + b) >> 1"),
    *_signs("vmax", "The greater of a and b", max, "a > b ? a : b"),
    *_signs("vmin", "The lesser of a and b", min, "a < b ? a : b"),
    *_compared(),
)

"""What is left of Python's meaning in the CUDA code, because no proof showed that C's is the same.
Reads the lowered IR."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.diagnostics import Label
from pycu2c.explain.notes import Note
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Const,
    Declare,
    ElementOf,
    Expr,
    Function,
    Load,
    Select,
    Store,
    Var,
)
from pycu2c.ir.walk import all_expressions, expressions, statements
from pycu2c.operators import ADD, LT, MUL, SUB
from pycu2c.types import Array, Scalar, Space

_FLOORED = {"python.floordiv": "//", "python.mod": "%"}


def floors(function: Function) -> Iterator[Note]:
    """``//`` and ``%`` of whole numbers whose signs are not known."""
    for e in all_expressions(function.body):
        if not isinstance(e, Apply) or e.intrinsic.name not in _FLOORED:
            continue
        if isinstance(e.type, Scalar) and e.type.dtype.is_whole:
            symbol = _FLOORED[e.intrinsic.name]
            text = f"`{symbol}` of numbers that may be negative, or a divisor that may be 0"
            cure = "test the signs before, `if i >= 0 and n > 0:`, or use an unsigned type"
            yield Note("floor", (Label(e.span, text),), cure)


def wraps(function: Function) -> Iterator[Note]:
    """Indices that may count from the end."""
    places = _places(function)
    for index in _indices(function):
        for part in expressions(index):
            e = places.get(part.name) if isinstance(part, Var) else part
            if isinstance(e, Select) and _is_wrap(e):
                cure = "test it before, `if i >= 0:`, or @kernel(wraparound=False)"
                yield Note("wraparound", (Label(e.span, "this may be negative"),), cure)


def _places(function: Function) -> dict[str, Expr]:
    """What legalize has put into variables of its own, by their names."""
    found: dict[str, Expr] = {}
    for s in statements(function.body):
        if isinstance(s, Assign) and ".l" in s.var.name:
            found[s.var.name] = s.value
        elif isinstance(s, Declare) and s.init is not None and ".l" in s.var.name:
            found[s.var.name] = s.init
    return found


def wide_indices(function: Function) -> Iterator[Note]:
    """Index arithmetic in 64 bits, in a launch that is small enough for 32."""
    for index in _indices(function):
        wide = [e for e in expressions(index) if isinstance(e, Binary) and _is_wide(e)]
        if wide:
            cure = "keep indices in int32: int32 arrays of indices, numpy.int32 arguments"
            yield Note("index64", (Label(wide[0].span, "64 bits are needed here"),), cure)


def _indices(function: Function) -> Iterator[Expr]:
    for s in statements(function.body):
        if isinstance(s, Store) and _is_memory(s.array.type):
            yield from s.indices
    for e in all_expressions(function.body):
        if isinstance(e, (Load, ElementOf)) and _is_memory(e.array.type):
            yield from e.indices


def _is_memory(kind: object) -> bool:
    return isinstance(kind, Array) and kind.space in (Space.GLOBAL, Space.SHARED, Space.LOCAL)


def _is_wrap(e: Select) -> bool:
    """``i < 0 ? i + n : i``."""
    test = e.condition
    if not isinstance(test, Binary) or test.op is not LT:
        return False
    return isinstance(test.right, Const) and isinstance(e.then, Binary)


def _is_wide(e: Binary) -> bool:
    kind = e.type
    return e.op in (ADD, SUB, MUL) and isinstance(kind, Scalar) and kind.dtype.bits == 64

"""Find Python semantics that remain in the CUDA code, because C semantics were not proved equal.

The rules read the lowered IR.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.diagnostics import Label
from pycu2c.base.types import MemorySpace, Scalar
from pycu2c.explain.notes import Note, quoted
from pycu2c.explain.value_origins import ExplainedFunction
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import accesses, all_expressions, expressions, statements
from pycu2c.ops.operators import ADD, LT, MUL, SUB

_FLOORED = {"python.floordiv": "//", "python.mod": "%"}


def find_floor_operations(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield ``//`` and ``%`` of numbers with unknown signs."""
    for e in all_expressions(subject.function.body):
        if isinstance(e, ir.Apply) and e.intrinsic.name in _FLOORED:
            text, hint = _floor_text_and_hint(_FLOORED[e.intrinsic.name], e)
            yield Note("floor", (Label(e.span, text),), hint)


def _floor_text_and_hint(symbol: str, e: ir.Apply) -> tuple[str, str]:
    """Return what is unknown of the two numbers, and a hint."""
    assert isinstance(e.type, Scalar)
    if not e.type.dtype.is_integer:
        quotient = "np.floor(a / b)"
        alternative = quotient if symbol == "//" else f"a - b * {quotient}"
        return f"`{symbol}` of floats", f"if its last bit does not matter: {alternative}"
    if not e.type.dtype.is_signed:
        return f"`{symbol}` with a divisor that may be 0", "test it before, `if n > 0:`"
    if isinstance(e.arguments[1], ir.Const):
        hint = "test it in a variable before, `if i >= 0:`, or use an unsigned type"
        return f"`{symbol}` of a number that may be negative", hint
    hint = "test both in variables before, `if i >= 0 and n > 0:`"
    if symbol == "%":
        hint += "; for an index that is not below -n write (i + n) % n"
    return f"`{symbol}` of numbers that may be negative, or a divisor that may be 0", hint


def find_wraparound(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield indices that may be negative."""
    variables = _legalization_variables(subject.function)
    for index in _indices(subject.function):
        for part in expressions(index):
            e = variables.get(part.name) if isinstance(part, ir.Var) else part
            if isinstance(e, ir.Select) and _is_wraparound(e):
                yield _wraparound_note(subject, e)


def _wraparound_note(subject: ExplainedFunction, e: ir.Select) -> Note:
    text, label = quoted(e.span), Label(e.span, "this may be negative")
    if text.isidentifier():
        hint = f"test it before, `if {text} >= 0:`, or @kernel(wraparound=False)"
        return Note("wraparound", (label,), hint, f"{subject.function.name}: {text}")
    hint = "give it a name and test that before, `if at >= 0:`, or @kernel(wraparound=False)"
    return Note("wraparound", (label,), hint)


def _legalization_variables(function: ir.Function) -> dict[str, ir.Expr]:
    """Return the variables that the pass legalize created, with their values; their names contain
    ``.l``."""
    values: dict[str, ir.Expr] = {}
    for s in statements(function.body):
        if isinstance(s, ir.Assign) and ".l" in s.var.name:
            values[s.var.name] = s.value
        elif isinstance(s, ir.Declare) and s.init is not None and ".l" in s.var.name:
            values[s.var.name] = s.init
    return values


def find_wide_indices(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield 64-bit index arithmetic in kernels that are small enough for 32 bits."""
    for index in _indices(subject.function):
        wide = [e for e in expressions(index) if isinstance(e, ir.Binary) and _is_wide(e)]
        if wide:
            hint = "keep indices in int32: int32 arrays of indices, numpy.int32 arguments"
            yield Note("index64", (Label(wide[0].span, "64 bits are needed here"),), hint)


def _indices(function: ir.Function) -> Iterator[ir.Expr]:
    spaces = MemorySpace.GLOBAL, MemorySpace.SHARED, MemorySpace.LOCAL
    for access in accesses(function.body):
        if ir.memory_space(access.array) in spaces:
            yield from access.indices


def _is_wraparound(e: ir.Select) -> bool:
    """Return whether a selection is ``i < 0 ? i + n : i``."""
    test = e.condition
    if not isinstance(test, ir.Binary) or test.op is not LT:
        return False
    return isinstance(test.right, ir.Const) and isinstance(e.then, ir.Binary)


def _is_wide(e: ir.Binary) -> bool:
    type_ = e.type
    return e.op in (ADD, SUB, MUL) and isinstance(type_, Scalar) and type_.dtype.bits == 64

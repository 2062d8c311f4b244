"""Find float divisions that a multiplication by a reciprocal can replace.

``x / 3.0``, or ``x / dt`` in a loop that does not change ``dt``. The CUDA compiler keeps these
divisions without ``fastmath``, because ``x * (1 / c)`` is rounded twice. It replaces a division by
a constant power of two, whose reciprocal is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import frexp, isfinite

from pycu2c.analysis.variables import assigned_names
from pycu2c.base.diagnostics import Label
from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.types import Scalar
from pycu2c.explain.notes import Note, quoted
from pycu2c.explain.value_origins import ExplainedFunction, Origins, origins
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands
from pycu2c.ops.operators import DIV

_ALTERNATIVE = " if the last bit does not matter, or @kernel(fastmath=True)"


def find_float_divisions(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield divisions by constants, and in loops by values that the loop does not change."""
    definitions = origins(subject.function)
    for division, loop in _float_divisions(subject.function.body, None):
        divisor, text = division.right, quoted(division.right.span)
        reciprocal = f"1 / {text}" if _is_atom(text) else f"1 / ({text})"
        value = _constant_value(divisor, definitions)
        if value is not None:
            if not _has_inexact_reciprocal(value):
                continue
            label = Label(division.span, "this divides by a constant")
            hint = f"multiply by ({reciprocal}){_ALTERNATIVE}"
        elif loop and _is_invariant(divisor, loop) and not _is_invariant(division.left, loop):
            label = Label(division.span, f"`{text}` is the same in each iteration")
            hint = f"compute {reciprocal} before the loop{_ALTERNATIVE}"
        else:
            continue
        yield Note("division", (label,), hint, f"{subject.function.name}: {text}")


def _is_atom(text: str) -> bool:
    return text.replace(".", "").replace("_", "").isalnum()


def _float_divisions(
    body: ir.Body, loop: ir.For | ir.While | None
) -> Iterator[tuple[ir.Binary, ir.For | ir.While | None]]:
    """Yield each float division with its innermost loop."""
    for s in body:
        inner = s if isinstance(s, ir.For | ir.While) else loop
        for operand in operands(s):
            for e in expressions(operand):
                if isinstance(e, ir.Binary) and e.op is DIV and _is_float(e):
                    yield e, inner if isinstance(s, ir.While) else loop
        for block in bodies(s):
            yield from _float_divisions(block, inner)


def _is_float(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype in (FLOAT32, FLOAT64)


def _constant_value(e: ir.Expr, definitions: Origins) -> float | None:
    match e:
        case ir.Const():
            return float(e.value)
        case ir.Cast():
            return _constant_value(e.operand, definitions)
        case ir.Var():
            values = definitions.get(e.name, ())
            constants = [float(v.value) for v in values if isinstance(v, ir.Const)]
            return constants[0] if len(values) == len(constants) == 1 else None
        case _:
            return None


def _has_inexact_reciprocal(value: float) -> bool:
    """Return whether the reciprocal of a number is rounded."""
    return isfinite(value) and value != 0 and abs(frexp(value)[0]) != 0.5


def _is_invariant(e: ir.Expr, loop: ir.For | ir.While) -> bool:
    """Return whether all iterations of a loop give an expression the same value."""
    changed = assigned_names(loop.body) | {
        x.name for x in all_expressions(loop.body) if isinstance(x, ir.Let)
    }
    if isinstance(loop, ir.For):
        changed.add(loop.var.name)
    return not any(_may_change(x, changed) for x in expressions(e))


def _may_change(e: ir.Expr, changed: set[str]) -> bool:
    match e:
        case ir.Var():
            return e.name in changed
        case ir.Apply():
            return not e.intrinsic.is_pure
        case _:
            return isinstance(e, ir.Load | ir.ElementOf | ir.Call)

"""Warn of sums that start as a Python int and take a type of 8 or 16 bits from their terms.

``s = 0`` and ``s += a[i]`` with a uint8 array make a uint8 variable, which wraps above 255.
"""

from __future__ import annotations

from pycu2c.base.diagnostics import Diagnostic, Label
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Assign, Binary, Body, Expr, For, Var, While
from pycu2c.ir.walk import statements
from pycu2c.ops.operators import ADD, MUL, SUB

_GROWING_OPERATORS = (ADD, SUB, MUL)
_MAX_BITS = 16  # a wider type holds the sums of most programs


def narrow_accumulators(context: FunctionContext, body: Body) -> list[Diagnostic]:
    """Return a warning for each narrow variable that a loop accumulates in."""
    warnings: dict[str, Diagnostic] = {}
    for loop in statements(body):
        if not isinstance(loop, For | While):
            continue
        for s in statements(loop.body):
            if isinstance(s, Assign) and _accumulates(s.value, s.var):
                start = context.first_weak_int_assignments.get(s.var.name)
                if start is not None and s.var.name not in context.declared_types:
                    warnings.setdefault(s.var.name, _warning(s, Label(start, "it starts here")))
    return list(warnings.values())


def _accumulates(e: Expr, variable: Var) -> bool:
    """Return whether an expression adds to a narrow variable."""
    if not isinstance(e, Binary) or e.op not in _GROWING_OPERATORS:
        return False
    dtype = scalar_type(e).dtype
    is_operand = any(isinstance(o, Var) and o.name == variable.name for o in (e.left, e.right))
    return is_operand and dtype.is_integer and dtype.bits <= _MAX_BITS


def _warning(s: Assign, start: Label) -> Diagnostic:
    name, variable_type = s.var.name.split(".")[0], scalar_type(s.var)
    text = f"`{name}` has the type of what is added, `{variable_type}`, and wraps"
    hint = (
        f"start with np.int64(0) to add in 64 bits; declare `{name}: {variable_type}` if it is "
        "to wrap"
    )
    return Diagnostic("narrow-accumulator", (Label(s.span, text), start), hint, "warning")

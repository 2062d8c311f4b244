"""``array.copy()``: a local array with the elements of an array."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.types import Array, MemorySpace
from pycu2c.frontend.calls.arguments import argument_nodes
from pycu2c.frontend.calls.special_forms import allocate
from pycu2c.frontend.expressions.array_views import ArrayValue, whole_view
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements.assignments import store_value
from pycu2c.ir.nodes import Const, Var


def copied(context: FunctionContext, array: ArrayValue, node: ast.Call) -> Var:
    """Lower ``array.copy()``; the shape must be known at compile time."""
    argument_nodes(context, node, (), "copy")
    span = context.span(node)
    view = whole_view(array, span)
    shape = tuple(int(e.value) for e in view.lengths if isinstance(e, Const))
    if len(shape) < len(view.axes) or not view.axes or 0 in shape:
        fail(
            "shape",
            Label(array.span, f"the shape of `{view.type}` is not known at compile time"),
            hint="allocate the maximum, b = cuda.local.array(n, dtype), and assign: b[:m] = a",
        )
    local_type = Array(view.type.dtype, len(shape), "C", MemorySpace.LOCAL, shape)
    local = allocate(context, node, local_type, node)
    store_value(context, whole_view(local, span), view, span)
    return local

"""Names that refer to different arrays on different paths.

The set of arrays is known at compile time. Such a name has a selector variable, the index of the
array, and variables for the computed numbers of a view's layout.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.frontend.expressions.array_views import (
    ArrayValue,
    array_type,
    has_linear_index,
    whole_view,
)
from pycu2c.frontend.expressions.composite_values import item_variable_at
from pycu2c.frontend.function_context import FunctionContext, ViewLayout
from pycu2c.frontend.value_checks import is_array
from pycu2c.frontend.values import ArraySelect, TupleValue, Value
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import Const, Expr, If, Select, Stmt, View
from pycu2c.ops.operators import EQ


def has_contiguous_steps(view: View) -> bool:
    """Return whether a view's steps follow from its lengths, as after ``reshape``."""
    return has_linear_index(view) and array_type(view).layout == "C"


def view_layout(array: ArrayValue) -> ViewLayout:
    """Return the layout that two views must share to use the same variables."""
    view = whole_view(array, array.span)
    steps = tuple(e.value if isinstance(e, Const) else None for e in view.steps)
    return (
        view.array.name,
        view.axes,
        field_path(view),
        "rows" if has_contiguous_steps(view) else steps,
    )


def field_path(view: View) -> tuple[str, ...]:
    """Return the fields in a view's path, without the indices."""
    return tuple(step if isinstance(step, str) else "[]" for step in view.path)


def record_arrays(context: FunctionContext, name: str, value: Value) -> None:
    """Record the arrays that a name, or an item of it, may refer to."""
    match value:
        case TupleValue():
            for position, item in enumerate(value.items):
                record_arrays(context, item_variable_at(name, value, position), item)
        case ArraySelect():
            for option in value.arrays:
                _record_array(context, name, option)
        case _ if is_array(value):
            _record_array(context, name, value)


def _record_array(context: FunctionContext, name: str, array: ArrayValue) -> None:
    arrays = context.arrays.setdefault(name, {})
    layout = view_layout(array)
    old = arrays.get(layout)
    new_type = array_type(array)
    for other in arrays.values():
        if (new_type.dtype, new_type.ndim) != (array_type(other).dtype, array_type(other).ndim):
            fail(
                "array-assign",
                Label(array.span, f"this is `{new_type}`"),
                Label(other.span, f"and this `{other.type}`"),
                hint="choose between their elements, `a[i] if … else b[i]`, or use two names",
            )
    if old is None or (isinstance(array, View) and not isinstance(old, View)):
        arrays[layout], context.arrays_changed = array, True
    elif isinstance(old, View) and isinstance(array, View):
        if array_type(old).layout == "C" and new_type.layout == "A":
            arrays[layout], context.arrays_changed = replace(old, type=new_type), True


def candidate_arrays(context: FunctionContext, name: str) -> dict[ViewLayout, ArrayValue]:
    """Return the arrays that a name may refer to, in a canonical order."""
    arrays = context.arrays[name]
    return {layout: arrays[layout] for layout in sorted(arrays, key=str)}


# ---- selectors ---------------------------------------------------------------------------------


def selected_condition(selector: Expr, position: int, span: Span) -> Expr:
    """Return the condition that a selector has a value."""
    return binary(EQ, selector, integer(position, span), span)


def remap_selector(selector: Expr, new_positions: Sequence[int], span: Span) -> Expr:
    """Return the expression of ``new_positions[selector]``."""
    if list(new_positions) == list(range(len(new_positions))):
        return selector
    out: Expr = integer(new_positions[-1], span)
    for position, new_position in reversed(list(enumerate(new_positions[:-1]))):
        test = selected_condition(selector, position, span)
        out = Select(test, integer(new_position, span), out, WEAK_INT, span)
    return out


def select_block(selector: Expr, blocks: Sequence[Sequence[Stmt]], span: Span) -> Sequence[Stmt]:
    """Return an ``if`` chain that runs the block of the selected array."""
    out = tuple(blocks[-1])
    for position, block in reversed(list(enumerate(blocks[:-1]))):
        out = (If(selected_condition(selector, position, span), tuple(block), out, span),)
    return out

"""Variables: assignment to names, and reads of them.

A number has a variable in the IR. A tuple has one for each number in it, a view one for each
computed number of its layout. Names of arrays and functions are bound at compile time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import have_common_type
from pycu2c.frontend.evaluation_order import is_invariant, materialize
from pycu2c.frontend.expressions import array_select
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_views import contiguous_steps, whole_view
from pycu2c.frontend.expressions.composite_values import SELECTOR, item_variable, item_variable_at
from pycu2c.frontend.function_context import FunctionContext, UnknownType, is_temporary_name
from pycu2c.frontend.scope.live_ranges import base_name
from pycu2c.frontend.value_checks import describe, is_array, is_none, require_value
from pycu2c.frontend.values import (
    ArraySelect,
    Closure,
    StaticObject,
    TupleValue,
    Value,
    subexpressions,
    with_operands,
)
from pycu2c.ir.builders import integer, scalar_type
from pycu2c.ir.nodes import Assign, Const, Expr, Stmt, Var, View
from pycu2c.ir.walk import path_indices, with_path_indices


def set_value(context: FunctionContext, name: str, value: Value, span: Span) -> None:
    """Assign any value to a name."""
    if isinstance(value, (TupleValue, View, ArraySelect)) and _reads_name(value, name):
        value = materialize(context, value, "old")  # it reads the assigned variable
    if isinstance(context.bound_values.get(name), StaticObject) and context.is_unconditional:
        del context.bound_values[name], context.origins[name]  # no later path has the old object
    match value:
        case TupleValue():
            bind(context, name, _items_in_variables(context, name, value), span)
        case StaticObject():
            bind(context, name, value, span)
        case Closure():
            operands = _items_in_variables(context, name, value.operands)
            bind(context, name, with_operands(value, operands), span)
        case ArraySelect():
            set_array(context, name, value, span)
        case _ if is_array(value):
            set_array(context, name, value, span)
        case _:
            set_variable(context, name, require_value(value, "the value"), span)


def set_array(
    context: FunctionContext, name: str, value: Var | View | ArraySelect, span: Span
) -> None:
    """Assign an array to a name, which then refers to this array or to one of a known set."""
    array_select.record_arrays(context, name, value)
    arrays = context.arrays[name]
    if len(arrays) > 1:
        bind(context, name, _select_arrays(context, name, value), span)
        return
    (sample,) = arrays.values()
    if isinstance(sample, Var):
        bind(context, name, sample, span)
        return
    array = value.arrays[0] if isinstance(value, ArraySelect) else value
    view = replace(whole_view(array, span), type=sample.type)
    bind(context, name, _view_in_variables(context, name, view), span)


def _select_arrays(
    context: FunctionContext, name: str, value: Var | View | ArraySelect
) -> ArraySelect:
    """Return the selection of a name with more than one array, and assign its variables."""
    arrays = array_select.candidate_arrays(context, name)
    layouts = list(arrays)
    selector = item_variable(name, SELECTOR)
    span = value.span

    def assign_selection(array: Var | View) -> None:
        position = layouts.index(array_select.view_layout(array))
        if isinstance(arrays[layouts[position]], View):
            _view_in_variables(context, item_variable(name, str(position)), whole_view(array, span))
        set_variable(context, selector, integer(position, span), span)

    if isinstance(value, ArraySelect):
        blocks: list[list[Stmt]] = []
        for array in value.arrays:
            with context.block() as statements:
                assign_selection(array)
            blocks.append(statements)
        if all(len(block) == 1 for block in blocks):
            positions = [layouts.index(array_select.view_layout(array)) for array in value.arrays]
            remapped = array_select.remap_selector(value.selector, positions, span)
            set_variable(context, selector, remapped, span)
        else:
            context.emit_all(array_select.select_block(value.selector, blocks, span))
    else:
        assign_selection(value)
    samples = enumerate(arrays.values())
    candidates = tuple(
        _candidate_array(context, item_variable(name, str(i)), sample) for i, sample in samples
    )
    return ArraySelect(context.variable(selector, span), candidates, span)


def _candidate_array(context: FunctionContext, name: str, sample: Var | View) -> Var | View:
    """Return an array that a name may refer to, in terms of the name's variables."""
    if isinstance(sample, Var):
        return sample

    def map_number(suffix: str, e: Expr) -> Expr:
        if isinstance(e, Const) and suffix.startswith("step"):
            return e
        variable = item_variable(name, suffix)
        return Var(variable, context.join_type(variable, scalar_type(e), e.span), e.span)

    return _map_numbers(sample, map_number)


def set_variable(context: FunctionContext, name: str, value: Expr, span: Span) -> None:
    """Assign a number to a name, converted to the common type of the variable's values."""
    if name in context.bound_values:
        _report_type_conflict(context, name, value, span)
    old = context.types.get(name)
    if old is not None and not have_common_type(old, scalar_type(value)):
        _report_type_conflict(context, name, value, span)
    joined = context.join_type(name, scalar_type(value), span)
    if isinstance(value, Const) and name in context.ranges.invariant:
        context.constant_variables[name] = value
    context.emit(Assign(Var(name, joined, span), coerce(value, joined), span))


def read_variable(context: FunctionContext, name: str, span: Span) -> Value:
    """Return the value of a variable."""
    if name in context.conflicting_variables:
        raise UnknownType
    if name in context.bound_values:
        return with_span(context.bound_values[name], span)
    return context.variable(name, span)


def with_span(value: Value, span: Span) -> Value:
    """Return a value with the span of its use, for errors."""
    match value:
        case StaticObject():
            return StaticObject(value.value, span)
        case TupleValue():
            items = tuple(with_span(item, span) for item in value.items)
            return TupleValue(items, span, value.names)
        case Closure() | ArraySelect():
            return replace(value, span=span)
        case _:
            return type(value)(**{**{f: getattr(value, f) for f in value.__slots__}, "span": span})


def bind(context: FunctionContext, name: str, value: Value, span: Span) -> None:
    """Bind a name to an array, a tuple or a function, at compile time."""
    old = context.bound_values.get(name)
    if name in context.types or (old is not None and not _same_binding(old, value)):
        _report_type_conflict(context, name, value, span)
    context.bound_values[name] = value
    context.origins.setdefault(name, span)


def _same_binding(a: Value, b: Value) -> bool:
    match a, b:
        case StaticObject(), StaticObject():
            return a.value is b.value
        case TupleValue(), TupleValue():
            return _all_same_bindings(a.items, b.items)
        case Closure(), Closure():
            return a.function is b.function and _same_binding(a.operands, b.operands)
        case ArraySelect(), ArraySelect():
            return _same_binding(a.operands, b.operands)
        case Var(), Var():
            return a.name == b.name
        case Const(), Const():
            return a.value == b.value and a.type == b.type
        case View(), View():
            same_axes = (a.array.name, a.axes) == (b.array.name, b.axes)
            same_path = array_select.field_path(a) == array_select.field_path(b)
            return same_axes and same_path and _all_same_bindings(_numbers(a), _numbers(b))
        case _:
            return False


def _all_same_bindings(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    return len(a) == len(b) and all(_same_binding(x, y) for x, y in zip(a, b))


def _numbers(view: View) -> tuple[Expr, ...]:
    steps = () if array_select.has_contiguous_steps(view) else view.steps
    return (*view.first, *steps, *view.lengths, *path_indices(view.path))


def _report_type_conflict(
    context: FunctionContext, name: str, value: Value, span: Span
) -> NoReturn:
    """Report an assignment whose type has no common type with the variable's.

    Later reads of the name raise UnknownType, so one mistake gives one error.
    """
    context.conflicting_variables.add(name)
    old = context.bound_values.get(name)
    old_text = describe(old) if old is not None else f"`{context.types[name]}`"
    here, there = f"here `{name.split('.')[0]}`", "here"
    if is_temporary_name(name):
        here = there = "this"
    fail(
        "join",
        Label(span, f"{here} is {describe(value)}"),
        Label(context.origins[name], f"and {there} {old_text}"),
        hint=_conflict_hint(value, old),
    )


def _conflict_hint(value: Value, old: Value | None) -> str:
    """Return the hint for a name with two incompatible values."""
    values = (value, old)
    tuples = [v for v in values if isinstance(v, TupleValue)]
    if len({len(t.items) for t in tuples}) == 2:
        return "a tuple keeps its length: use two names, or count in a cuda.local.array(n, dtype)"
    if any(v is not None and is_none(v) for v in values):
        return "assign a number first, such as 0.0 or -math.inf, instead of None"
    if all(isinstance(v, (StaticObject, Closure)) for v in values):
        return "strings and functions are known when the kernel is compiled: use two names"
    return "use two names"


def _items_in_variables(context: FunctionContext, name: str, value: TupleValue) -> TupleValue:
    """Assign the items of a tuple to variables of their own."""
    items: list[Value] = []
    for position, item in enumerate(value.items):
        item_name = item_variable_at(name, value, position)
        set_value(context, item_name, item, item.span)
        items.append(read_variable(context, item_name, item.span))
    return TupleValue(tuple(items), value.span, value.names)


def _view_in_variables(context: FunctionContext, name: str, view: View) -> View:
    """Assign the computed numbers of a view to variables."""

    def map_number(suffix: str, e: Expr) -> Expr:
        if isinstance(e, Const) and suffix.startswith("step"):
            return e
        is_temporary = isinstance(e, Var) and e.name in context.temporaries
        if name in context.ranges.invariant and (is_temporary or is_invariant(context, e)):
            return e
        variable = item_variable(name, suffix)
        set_variable(context, variable, e, e.span)
        return context.variable(variable, e.span)

    return _map_numbers(view, map_number)


def _map_numbers(view: View, map_number: Callable[[str, Expr], Expr]) -> View:
    """Map the computed numbers of a view; contiguous steps follow from the new lengths."""

    def map_group(suffix: str, numbers: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(map_number(f"{suffix}{i}", e) for i, e in enumerate(numbers))

    first = map_group("start", view.first)
    steps = () if array_select.has_contiguous_steps(view) else map_group("step", view.steps)
    lengths = map_group("length", view.lengths)
    steps = steps or contiguous_steps(lengths, view.span)
    path = with_path_indices(view.path, map_group("item", path_indices(view.path)))
    return replace(view, first=first, steps=steps, lengths=lengths, path=path)


def _reads_name(value: Value, name: str) -> bool:
    """Return whether a value reads a variable."""
    variables = (e.name for e in subexpressions(value) if isinstance(e, Var))
    return base_name(name) in map(base_name, variables)

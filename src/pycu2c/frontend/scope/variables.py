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
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import is_invariant, materialize, with_operands
from pycu2c.frontend.expressions import array_select
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_views import contiguous_steps, whole_view
from pycu2c.frontend.expressions.composite_values import item_variable, item_variable_at
from pycu2c.frontend.function_context import (
    ArraySelect,
    Closure,
    FunctionContext,
    StaticObject,
    TupleValue,
    UnknownType,
    Value,
    describe,
    is_array,
    is_temporary_name,
    require_value,
)
from pycu2c.ir.builders import integer, scalar_type
from pycu2c.ir.nodes import Assign, Const, Expr, Stmt, Var, View
from pycu2c.ir.walk import expressions, path_indices, with_path_indices


def set_value(context: FunctionContext, name: str, value: Value, span: Span) -> None:
    """Assign any value to a name."""
    if isinstance(value, (TupleValue, View, ArraySelect)) and _mentions(value, name):
        value = materialize(context, value, "old")  # it reads the assigned variable
    if isinstance(context.bound.get(name), StaticObject) and context.is_unconditional:
        del context.bound[name], context.origins[name]  # no later path has the old object
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
    known = context.arrays[name]
    if len(known) > 1:
        bind(context, name, _select_arrays(context, name, value), span)
        return
    (sample,) = known.values()
    if isinstance(sample, Var):
        bind(context, name, sample, span)
        return
    given = value.arrays[0] if isinstance(value, ArraySelect) else value
    seen = replace(whole_view(given, span), type=sample.type)
    bind(context, name, _view_in_variables(context, name, seen), span)


def _select_arrays(
    context: FunctionContext, name: str, value: Var | View | ArraySelect
) -> ArraySelect:
    """Return the selection of a name with more than one array, and assign its variables."""
    arrays = array_select.candidate_arrays(context, name)
    layouts = list(arrays)
    selector = item_variable(name, "<which>")
    span = value.span

    def assign_selection(array: Var | View) -> None:
        number = layouts.index(array_select.view_layout(array))
        if isinstance(arrays[layouts[number]], View):
            _view_in_variables(context, item_variable(name, str(number)), whole_view(array, span))
        set_variable(context, selector, integer(number, span), span)

    if isinstance(value, ArraySelect):
        blocks: list[list[Stmt]] = []
        for option in value.arrays:
            with context.block() as inside:
                assign_selection(option)
            blocks.append(inside)
        if all(len(block) == 1 for block in blocks):
            numbers = [layouts.index(array_select.view_layout(option)) for option in value.arrays]
            set_variable(
                context, selector, array_select.remap_selector(value.selector, numbers, span), span
            )
        else:
            context.emit_all(array_select.select_block(value.selector, blocks, span))
    else:
        assign_selection(value)
    samples = enumerate(arrays.values())
    options = tuple(_option(context, item_variable(name, str(i)), sample) for i, sample in samples)
    return ArraySelect(context.variable(selector, span), options, span)


def _option(context: FunctionContext, name: str, sample: Var | View) -> Var | View:
    """Return an array that a name may refer to, in terms of the name's variables."""
    if isinstance(sample, Var):
        return sample

    def part(label: str, e: Expr) -> Expr:
        fixed = isinstance(e, Const) and label.startswith("step")
        own = item_variable(name, label)
        return e if fixed else Var(own, context.assigned(own, scalar_type(e), e.span), e.span)

    return _with_parts(sample, part)


def set_variable(context: FunctionContext, name: str, value: Expr, span: Span) -> None:
    """Assign a number to a name, converted to the common type of the variable's values."""
    if name in context.bound:
        _report_type_conflict(context, name, value, span)
    known = context.types.get(name)
    if known is not None and not have_common_type(known, scalar_type(value)):
        _report_type_conflict(context, name, value, span)
    joined = context.assigned(name, scalar_type(value), span)
    if isinstance(value, Const) and name in context.ranges.invariant:
        context.constant_variables[name] = value
    context.emit(Assign(Var(name, joined, span), coerce(value, joined), span))


def read_variable(context: FunctionContext, name: str, span: Span) -> Value:
    """Return the value of a variable."""
    if name in context.conflicting:
        raise UnknownType
    if name in context.bound:
        return with_span(context.bound[name], span)
    return context.variable(name, span)


def with_span(value: Value, span: Span) -> Value:
    """Return a value with the span of its use, for errors."""
    match value:
        case StaticObject():
            return StaticObject(value.value, span)
        case TupleValue():
            return TupleValue(
                tuple(with_span(item, span) for item in value.items), span, value.names
            )
        case Closure() | ArraySelect():
            return replace(value, span=span)
        case _:
            return type(value)(**{**{f: getattr(value, f) for f in value.__slots__}, "span": span})


def bind(context: FunctionContext, name: str, value: Value, span: Span) -> None:
    """Bind a name to an array, a tuple or a function, at compile time."""
    known = context.bound.get(name)
    if known is not None and not _same_binding(known, value):
        _report_type_conflict(context, name, value, span)
    if name in context.types:
        _report_type_conflict(context, name, value, span)
    context.bound[name] = value
    context.origins.setdefault(name, span)


def _same_binding(a: Value, b: Value) -> bool:
    match a, b:
        case StaticObject(), StaticObject():
            return a.value is b.value
        case TupleValue(), TupleValue():
            return _all_same(a.items, b.items)
        case Closure(), Closure():
            return a.function is b.function and _same_binding(a.operands, b.operands)
        case ArraySelect(), ArraySelect():
            return _same_binding(a.operands, b.operands)
        case Var(), Var():
            return a.name == b.name
        case Const(), Const():
            return a.value == b.value and a.type == b.type
        case View(), View():
            alike = (a.array.name, a.axes, array_select.field_path(a)) == (
                b.array.name,
                b.axes,
                array_select.field_path(b),
            )
            return alike and _all_same(_parts(a), _parts(b))
        case _:
            return False


def _all_same(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    return len(a) == len(b) and all(_same_binding(x, y) for x, y in zip(a, b))


def _parts(view: View) -> tuple[Expr, ...]:
    steps = () if array_select.has_contiguous_steps(view) else view.steps
    return (*view.first, *steps, *view.lengths, *path_indices(view.path))


def _report_type_conflict(
    context: FunctionContext, name: str, value: Value, span: Span
) -> NoReturn:
    """Report an assignment whose type has no common type with the variable's.

    Later reads of the name raise UnknownType, so one mistake gives one error.
    """
    context.conflicting.add(name)
    old = context.bound.get(name)
    before = describe(old) if old is not None else f"`{context.types[name]}`"
    who = "this" if is_temporary_name(name) else f"here `{name.split('.')[0]}`"
    fail(
        "join",
        Label(span, f"{who} is {describe(value)}"),
        Label(
            context.origins[name], f"and {'this' if is_temporary_name(name) else 'here'} {before}"
        ),
        hint=_conflict_hint(value, old) + hints.vector_view_hint(value, old or context.types[name]),
    )


def _conflict_hint(value: Value, old: Value | None) -> str:
    """Return the hint for a name with two incompatible values."""
    both = (value, old)
    if (
        isinstance(value, TupleValue)
        and isinstance(old, TupleValue)
        and len(value.items) != len(old.items)
    ):
        return "a tuple keeps its length: use two names, or count in a cuda.local.array(n, dtype)"
    if any(isinstance(v, StaticObject) and v.value is None for v in both):
        return "give it a number first, such as 0.0 or -math.inf, and no None"
    if all(isinstance(v, (StaticObject, Closure)) for v in both):
        return "strings and functions are known when the kernel is compiled: use two names"
    return "use two names"


def _items_in_variables(context: FunctionContext, name: str, value: TupleValue) -> TupleValue:
    """Assign the items of a tuple to variables of their own."""
    items: list[Value] = []
    for position, item in enumerate(value.items):
        part = item_variable_at(name, value, position)
        set_value(context, part, item, item.span)
        items.append(read_variable(context, part, item.span))
    return TupleValue(tuple(items), value.span, value.names)


def _view_in_variables(context: FunctionContext, name: str, view: View) -> View:
    """Assign the computed numbers of a view to variables."""
    once = name in context.ranges.invariant

    def part(label: str, e: Expr) -> Expr:
        fixed = isinstance(e, Const) and label.startswith("step")
        is_own = isinstance(e, Var) and e.name in context.temporaries
        if fixed or (once and (is_own or is_invariant(context, e))):
            return e
        own = item_variable(name, label)
        set_variable(context, own, e, e.span)
        return context.variable(own, e.span)

    return _with_parts(view, part)


def _with_parts(view: View, part: Callable[[str, Expr], Expr]) -> View:
    """Rebuild a view from its numbers; contiguous steps are computed from the lengths."""

    def group(word: str, given: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(part(f"{word}{i}", e) for i, e in enumerate(given))

    first = group("start", view.first)
    steps = () if array_select.has_contiguous_steps(view) else group("step", view.steps)
    lengths = group("length", view.lengths)
    steps = steps or contiguous_steps(lengths, view.span)
    path = with_path_indices(view.path, group("item", path_indices(view.path)))
    return replace(view, first=first, steps=steps, lengths=lengths, path=path)


def _mentions(value: Value, name: str) -> bool:
    """Return whether a value reads a variable."""
    match value:
        case TupleValue():
            return any(_mentions(item, name) for item in value.items)
        case Closure() | ArraySelect():
            return _mentions(value.operands, name)
        case StaticObject():
            return False
        case _:
            base = name.split(".", 1)[0]
            read_names = (e.name for e in expressions(value) if isinstance(e, Var))
            return any(n.split(".", 1)[0] == base for n in read_names)

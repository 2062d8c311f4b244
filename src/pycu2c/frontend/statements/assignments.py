"""Assignments to names, elements, slices and tuples: the value first, then the targets."""

from __future__ import annotations

import ast
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Scalar, have_common_type
from pycu2c.frontend import hints
from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.evaluation_order import (
    assign_temporary,
    evaluate_in_order,
    has_effect,
    materialize,
    materialize_if_changed,
    materialize_view,
    may_have_effects,
)
from pycu2c.frontend.expressions import (
    array_select,
    array_views,
    constant_tables,
    subscripts,
    vectors,
)
from pycu2c.frontend.expressions.arithmetic import binary, coerce
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
    is_vector,
    require_number,
    require_value,
    vector_variable,
)
from pycu2c.frontend.scope.name_resolution import close_over_current
from pycu2c.frontend.scope.variables import bind, read_variable, set_value, set_variable
from pycu2c.frontend.statements import branches, slice_assignment
from pycu2c.ir.builders import integer, is_atom, scalar_type
from pycu2c.ir.nodes import Apply, Call, Const, Expr, Load, Store, Var, View
from pycu2c.ir.views import start_indices, with_starts
from pycu2c.ir.walk import expressions
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import ADD, BY_NODE, Operator

__all__ = ["annotated", "assign", "assign_to", "augmented", "set_variable", "walrus"]


def assign(context: FunctionContext, node: ast.Assign) -> None:
    """Lower ``target = value`` and ``first = second = value``."""
    single = node.targets[0] if len(node.targets) == 1 else None
    name = context.ranges.names.get(id(single))
    context.target = (node.value, name) if name is not None else None
    if isinstance(single, ast.Name) and isinstance(node.value, ast.Lambda):
        value: Value = device_calls.named_lambda(context, node.value, single.id)
    else:
        value = context.value(node.value)
    context.target = None
    if len(node.targets) > 1:
        value = materialize(context, value, "value")
    for target in node.targets:
        assign_to(context, target, value)


_PYTHONS: dict[object, Scalar] = {int: WEAK_INT, float: WEAK_FLOAT, bool: WEAK_BOOL}


def annotated(context: FunctionContext, node: ast.AnnAssign) -> None:
    """Lower ``x: float32 = value``: all values that are assigned to ``x`` are converted."""
    if isinstance(node.annotation, ast.Subscript):
        fail(
            "dtype",
            Label(context.span(node.annotation), "this is the type of an array"),
            hint="leave it out: a name for an array has the type of the array",
        )
    annotation = context.value(node.annotation)
    declared = None
    if isinstance(annotation, StaticObject):
        named = annotation.value
        declared = scalar_named(named) or (_PYTHONS.get(named) if isinstance(named, type) else None)
    if declared is None:
        fail(
            "dtype",
            Label(
                context.span(node.annotation), f"{describe(annotation)} names no type of numbers"
            ),
            hint="write float32, int32, …; arrays need no annotation",
        )
    _declare(context, node, declared)
    if node.value is not None:
        value = require_value(context.value(node.value), "the value")
        assign_to(context, node.target, coerce(value, declared))


def _declare(context: FunctionContext, node: ast.AnnAssign, wanted: Scalar) -> None:
    assert isinstance(node.target, ast.Name)
    name = context.ranges.names.get(id(node.target))
    if name is None:
        raise UnknownType
    if context.declared.setdefault(name, wanted) != wanted:
        first = context.origins.get(name)
        before = [Label(first, f"and here `{context.declared[name]}`")] if first else []
        fail(
            "join",
            Label(context.span(node.annotation), f"here `{node.target.id}` is `{wanted}`"),
            *before,
            hint=f"it is declared as `{context.declared[name]}` before: use two names",
        )


def assign_to(context: FunctionContext, target: ast.expr, value: Value) -> None:
    """Lower ``target = value`` for one target."""
    match target:
        case ast.Name():
            _assign_name(context, target, value)
        case ast.Subscript() | ast.Attribute() if vector_variable(context, target) is not None:
            vectors.assign_component(context, target, require_number(value, "the value"))
        case ast.Subscript() | ast.Attribute():
            with context.block() as written:
                place = _target_view(context, target)
            if written:
                value = materialize_if_changed(context, value, tuple(written))
                context.emit_all(written)
            _store(context, place, value, context.span(target))
        case ast.Tuple() | ast.List():
            _unpack(context, target, value)
        case _:
            fail(
                "subset",
                Label(context.span(target), "not a valid target of an assignment"),
                hint="assign to a name or to an element, a[i] = …",
            )


def _assign_name(context: FunctionContext, target: ast.Name, value: Value) -> None:
    name = context.ranges.names.get(id(target))
    if name is None:
        raise UnknownType
    is_once = context.is_unconditional and name in context.ranges.single_assignment
    if is_once and isinstance(value, TupleValue) and constant_tables.is_table(value):
        bind(context, name, value, context.span(target))
    else:
        if isinstance(value, (TupleValue, Closure)):
            value = device_calls.reopen_closures(context, value)
        set_value(context, name, value, context.span(target))
    context.record_store(target, name)


def walrus(context: FunctionContext, node: ast.NamedExpr) -> Value:
    """Lower ``(name := value)`` and return its value."""
    assert isinstance(node.target, ast.Name)
    _assign_name(context, node.target, context.value(node.value))
    name = context.ranges.names.get(id(node.target))
    if name is None:
        raise UnknownType
    return close_over_current(context, read_variable(context, name, context.span(node.target)))


# ---- elements ----------------------------------------------------------------------------------


def _store(context: FunctionContext, place: View | ArraySelect, value: Value, span: Span) -> None:
    """Store a value at a place; records are stored as a whole."""
    if isinstance(place, ArraySelect):
        given = value if isinstance(value, StaticObject) else materialize(context, value, "value")
        blocks = []
        for option in place.arrays:
            assert isinstance(option, View)
            with context.block() as inside:
                _store(context, option, given, span)
            blocks.append(inside)
        context.emit_all(array_select.select_block(place.selector, blocks, span))
        return
    if place.axes:
        slice_assignment.assign_slice(
            context, place, value, span, lambda one, item: _store(context, one, item, span)
        )
        return
    wanted = place.type.element
    if isinstance(value, View) and not value.axes:
        value = array_views.load_element(value, value.span)
    if wanted.dtype.has_fields and isinstance(value, TupleValue):
        _store_fields(context, place, value, span)
        return
    given = require_value(value, "the value")
    if not have_common_type(scalar_type(given), wanted):
        _other_record(wanted, given, span)
    stored = coerce(given, wanted)
    context.emit(Store(place.array, place.first, stored, span, place.path))


def _store_fields(context: FunctionContext, place: View, value: TupleValue, span: Span) -> None:
    """Store a tuple, or a record that is an argument, field by field: ``record = (1, 2.5)``."""
    fields = place.type.dtype.fields
    if place.type.dtype.is_vector or len(fields) != len(value.items):
        _other_record(place.type.element, value, span)
    given = materialize(context, value, "field")
    assert isinstance(given, TupleValue)
    place = materialize_view(context, place, "record")
    for field, item in zip(fields, given.items):
        part = array_views.field_view(place, field.name, span)
        assert part is not None
        _store(context, part, item, span)


def _other_record(wanted: Scalar, given: Value, span: Span) -> NoReturn:
    whole = f"a vector, {wanted}(…)" if wanted.dtype.is_vector else "a record of the same dtype"
    if not wanted.dtype.has_fields:
        whole = "one of its numbers, v.x"
    hint = hints.vector_view_hint(wanted, given)
    fail(
        "store-type",
        Label(span, f"this is `{wanted}`"),
        Label(given.span, f"and this {describe(given)}"),
        hint=f"store {whole}" + ", or field by field: a[i].x = …" * wanted.dtype.has_fields + hint,
    )


def augmented(context: FunctionContext, node: ast.AugAssign) -> None:
    """Lower ``target op= value``; the target's subscript is evaluated first, and once."""
    operator, span = BY_NODE[type(node.op)], context.span(node)
    if not isinstance(node.target, ast.Name) and vector_variable(context, node.target) is not None:
        vectors.augmented_component(context, node, node.target, operator)
        return
    if not isinstance(node.target, ast.Name):
        given = _target_view(context, node.target)
        if isinstance(given, View) and given.axes:
            _augmented_part(context, node, given, operator)
            return
        place, old = _read_first(context, given, context.span(node.target))
        with context.block() as written:
            right = context.number(node.value)
        if written:
            old = require_number(materialize(context, old, "old"))
            found = materialize_if_changed(context, place, tuple(written))
            assert isinstance(found, (View, ArraySelect))
            place = found
            context.emit_all(written)
        _store(context, place, binary(context, operator, old, right, span), span)
        return
    name = context.ranges.names.get(id(node.target))
    if name is None:
        raise UnknownType
    old_value = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
    context.ranges.names[id(old_value)] = name
    left, right_value = evaluate_in_order(context, [old_value, node.value])
    del context.ranges.names[id(old_value)]
    result = _augmented_value(context, operator, (left, right_value), span)
    set_value(context, name, result, span)
    context.record_store(node.target, name)


def _augmented_part(
    context: FunctionContext, node: ast.AugAssign, place: View, operator: Operator
) -> None:
    """Lower ``a[1:n] += value``."""
    span = context.span(node)
    assigned, place = place, materialize_view(context, place, "part")

    def store(one: View, item: Value) -> None:
        old = array_views.load_element(one, context.span(node.target))
        _store(context, one, binary(context, operator, old, require_number(item), span), span)

    value = context.value(node.value)
    slice_assignment.check_slice_lengths(assigned, value, span)
    slice_assignment.assign_elements(context, place, value, span, store)


def _read_first(
    context: FunctionContext, place: View | ArraySelect, span: Span
) -> tuple[View | ArraySelect, Expr]:
    """Return a place whose subscript is evaluated now, and its value."""
    if isinstance(place, ArraySelect):
        return place, require_number(
            branches.for_each_array(
                context, place, lambda known: array_views.load_view(known, span)
            )
        )
    place = with_starts(
        place, [_materialize_index(context, index) for index in start_indices(place)]
    )
    held = place if array_views.is_record(place) else array_views.load_element(place, span)
    return place, require_number(held)


def _augmented_value(
    context: FunctionContext, operator: Operator, pair: tuple[Value, Value], span: Span
) -> Value:
    left, right = pair
    if operator is ADD and isinstance(left, TupleValue) and isinstance(right, TupleValue):
        return TupleValue((*left.items, *right.items), span)
    return binary(context, operator, require_number(left), require_number(right), span)


def _target_view(context: FunctionContext, target: ast.expr) -> View | ArraySelect:
    """Return the element or field that an assignment changes."""
    if isinstance(target, ast.Subscript):
        return subscripts.check_writable(
            subscripts.target_view(context, target), context.span(target)
        )
    assert isinstance(target, ast.Attribute)
    owner, span = subscripts.owner_view(context, target.value), context.span(target)
    if not isinstance(owner, ArraySelect):
        return subscripts.check_writable(
            subscripts.record_field_view(context, owner, target.attr, span), span
        )
    found = branches.for_each_array(
        context,
        owner,
        lambda array: subscripts.record_field_view(context, array, target.attr, span),
    )
    assert isinstance(found, ArraySelect)
    return subscripts.check_writable(found, span)


def _materialize_index(context: FunctionContext, index: Expr) -> Expr:
    """Assign an index with side effects or memory reads to a variable."""
    if any(isinstance(e, (Apply, Call, Load)) for e in expressions(index)) and not is_atom(index):
        return assign_temporary(context, index, "at")
    return index


# ---- tuples ------------------------------------------------------------------------------------


def _unpack(context: FunctionContext, target: ast.Tuple | ast.List, value: Value) -> None:
    targets, items = _matched(context, target, _items_of(context, target, value))
    touched = [_is_touched(context, v, targets[:i]) for i, v in enumerate(items)]
    last = max((i for i, is_touched in enumerate(touched) if is_touched), default=-1)
    acting = [any(map(may_have_effects, items[i : last + 1])) for i in range(len(items))]
    values = [  # keep the order of values before a materialized one
        materialize(context, item, "old")
        if touched[i] or (acting[i] and _is_unsteady(item))
        else item
        for i, item in enumerate(items)
    ]
    for inner, item in zip(targets, values):
        assign_to(context, inner, item)


def _items_of(context: FunctionContext, target: ast.Tuple | ast.List, value: Value) -> TupleValue:
    """Return the items to unpack: those of a tuple, or elements of an array."""
    if isinstance(value, TupleValue):
        return value
    if is_vector(value):
        return TupleValue(tuple(vectors.components(context, value)), value.span)
    fields = array_views.record_fields(value)
    if fields is not None:
        return fields
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    numbers = [integer(i, value.span) for i in range(len(target.elts))]
    if isinstance(value, ArraySelect) and value.type.ndim and not starred:
        found = materialize(context, value, "row")
        parts = [subscripts.item_at(context, found, n, value.span) for n in numbers]
        return TupleValue(tuple(parts), value.span)
    if is_array(value) and array_views.array_type(value).ndim and not starred:
        rows = [array_views.subscript_value(value, [n], value.span) for n in numbers]
        return TupleValue(tuple(rows), value.span)
    fail(
        "unpack",
        Label(context.span(target), hints.count_phrase(len(target.elts), "name", "names")),
        Label(value.span, f"{describe(value)} is not a tuple"),
        hint=hints.all_fields_hint(value) or "write one name, or a tuple of values",
    )


def _matched(
    context: FunctionContext, target: ast.Tuple | ast.List, value: TupleValue
) -> tuple[list[ast.expr], list[Value]]:
    """Return pairs of targets and items; a starred name gets the remaining items."""
    targets, items = list(target.elts), list(value.items)
    places = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if len(targets) != len(items) if not places else len(targets) - 1 > len(items):
        fail(
            "unpack",
            Label(context.span(target), hints.count_phrase(len(targets), "name", "names")),
            Label(value.span, hints.count_phrase(len(items), "value", "values")),
            hint="write a name for each value, `_` for those not needed, or `*rest` for the rest",
        )
    for place in places:
        starred = targets[place]
        assert isinstance(starred, ast.Starred)
        count = len(items) - len(targets) + 1
        items[place : place + count] = [TupleValue(tuple(items[place : place + count]), value.span)]
        targets[place] = starred.value
    return targets, items


def _is_touched(context: FunctionContext, value: Value, earlier: list[ast.expr]) -> bool:
    """Return whether assignments to earlier targets could change a value."""
    if isinstance(value, TupleValue):
        return any(_is_touched(context, item, earlier) for item in value.items)
    if isinstance(value, (Closure, ArraySelect)):
        return _is_touched(context, value.operands, earlier)
    if isinstance(value, (StaticObject, Const)):
        return False
    # compare Python names, because live ranges of one name may be merged again
    names = {n.id for t in earlier for n in ast.walk(t) if isinstance(n, ast.Name)}
    stores = any(not isinstance(t, ast.Name) for t in earlier)
    for e in expressions(value):
        if isinstance(e, Var) and e.name.split(".", 1)[0] in names:
            return True
        if isinstance(e, (Call, Load)) and stores:
            return True
    return bool(earlier) and any(has_effect(e) for e in expressions(value))


def _is_unsteady(value: Value) -> bool:
    """Return whether a value depends on memory or has side effects."""
    if isinstance(value, TupleValue):
        return any(_is_unsteady(item) for item in value.items)
    if isinstance(value, (StaticObject, Closure)):
        return False
    if isinstance(value, ArraySelect):
        return _is_unsteady(value.operands)
    return any(isinstance(e, Load) or has_effect(e) for e in expressions(value))

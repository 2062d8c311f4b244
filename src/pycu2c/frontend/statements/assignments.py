"""Assignments: names, elements, parts of arrays, tuples of them; the value first, then targets from
left to right."""

from __future__ import annotations

import ast
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Scalar, have_join
from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.evaluation_order import (
    acts,
    before,
    has_effect,
    in_order,
    kept,
    kept_view,
    variable_of,
)
from pycu2c.frontend.expressions import (
    array_select,
    array_views,
    constant_tables,
    slice_lengths,
    subscripts,
    vectors,
)
from pycu2c.frontend.expressions.arithmetic import binary, coerce
from pycu2c.frontend.function_context import (
    Chosen,
    Closure,
    Frame,
    Items,
    Static,
    Unknown,
    Value,
    is_array,
    is_vector,
    named_vector,
    number,
    shown,
    single,
)
from pycu2c.frontend.hints import records, replacements
from pycu2c.frontend.scope.name_resolution import as_of_now
from pycu2c.frontend.scope.variables import bind, read, set_value, set_variable
from pycu2c.frontend.statements import branches, slice_assignment
from pycu2c.ir.builders import integer, is_atom, scalar_type
from pycu2c.ir.nodes import Apply, Call, Const, Expr, Load, Store, Var, View
from pycu2c.ir.views import started, starts
from pycu2c.ir.walk import expressions
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import ADD, BY_NODE, Operator

__all__ = ["annotated", "assign", "assign_to", "augmented", "set_variable", "walrus"]


def assign(frame: Frame, node: ast.Assign) -> None:
    """``target = value`` and ``first = second = value``."""
    single = node.targets[0] if len(node.targets) == 1 else None
    name = frame.ranges.names.get(id(single))
    frame.target = (node.value, name) if name is not None else None
    if isinstance(single, ast.Name) and isinstance(node.value, ast.Lambda):
        value: Value = device_calls.named_lambda(frame, node.value, single.id)
    else:
        value = frame.value(node.value)
    frame.target = None
    if len(node.targets) > 1:
        value = kept(frame, value, "value")
    for target in node.targets:
        assign_to(frame, target, value)


_PYTHONS: dict[object, Scalar] = {int: WEAK_INT, float: WEAK_FLOAT, bool: WEAK_BOOL}


def annotated(frame: Frame, node: ast.AnnAssign) -> None:
    """``x: float32 = value``, ``x: float32``: whatever is assigned to ``x`` is converted."""
    if isinstance(node.annotation, ast.Subscript):
        fail(
            "dtype",
            Label(frame.span(node.annotation), "this is the type of an array"),
            help="leave it out: a name for an array has the type of the array",
        )
    annotation = frame.value(node.annotation)
    wanted = None
    if isinstance(annotation, Static):
        given = annotation.value
        wanted = scalar_named(given) or (_PYTHONS.get(given) if isinstance(given, type) else None)
    if wanted is None:
        fail(
            "dtype",
            Label(frame.span(node.annotation), f"{shown(annotation)} names no type of numbers"),
            help="write float32, int32, …; arrays need no annotation",
        )
    _declare(frame, node, wanted)
    if node.value is not None:
        value = single(frame.value(node.value), "the value")
        assign_to(frame, node.target, coerce(value, wanted))


def _declare(frame: Frame, node: ast.AnnAssign, wanted: Scalar) -> None:
    assert isinstance(node.target, ast.Name)
    name = frame.ranges.names.get(id(node.target))
    if name is None:
        raise Unknown
    if frame.declared.setdefault(name, wanted) != wanted:
        first = frame.origins.get(name)
        before = [Label(first, f"and here `{frame.declared[name]}`")] if first else []
        fail(
            "join",
            Label(frame.span(node.annotation), f"here `{node.target.id}` is `{wanted}`"),
            *before,
            help=f"it is declared as `{frame.declared[name]}` before: use two names",
        )


def assign_to(frame: Frame, target: ast.expr, value: Value) -> None:
    """``target = value``."""
    match target:
        case ast.Name():
            _assign_name(frame, target, value)
        case ast.Subscript() | ast.Attribute() if named_vector(frame, target) is not None:
            vectors.assign_component(frame, target, number(value, "the value"))
        case ast.Subscript() | ast.Attribute():
            with frame.block() as written:
                place = _target_place(frame, target)
            if written:
                value = before(frame, value, tuple(written))
                frame.emit_all(written)
            _store(frame, place, value, frame.span(target))
        case ast.Tuple() | ast.List():
            _unpack(frame, target, value)
        case _:
            fail(
                "subset",
                Label(frame.span(target), "not a place that a kernel can assign to"),
                help="assign to a name or to an element, a[i] = …",
            )


def _assign_name(frame: Frame, target: ast.Name, value: Value) -> None:
    name = frame.ranges.names.get(id(target))
    if name is None:
        raise Unknown
    is_once = frame.is_straight and name in frame.ranges.once
    if is_once and isinstance(value, Items) and constant_tables.is_table(value):
        bind(frame, name, value, frame.span(target))
    else:
        if isinstance(value, (Items, Closure)):
            value = device_calls.reopened(frame, value)
        set_value(frame, name, value, frame.span(target))
    frame.note_store(target, name)


def walrus(frame: Frame, node: ast.NamedExpr) -> Value:
    """``(name := value)``: an assignment that is a value too."""
    assert isinstance(node.target, ast.Name)
    _assign_name(frame, node.target, frame.value(node.value))
    name = frame.ranges.names.get(id(node.target))
    if name is None:
        raise Unknown
    return as_of_now(frame, read(frame, name, frame.span(node.target)))


# ---- elements ----------------------------------------------------------------------------------


def _store(frame: Frame, place: View | Chosen, value: Value, span: Span) -> None:
    """``place = value``: a record is stored as a whole."""
    if isinstance(place, Chosen):
        given = value if isinstance(value, Static) else kept(frame, value, "value")
        blocks = []
        for option in place.options:
            assert isinstance(option, View)
            with frame.block() as inside:
                _store(frame, option, given, span)
            blocks.append(inside)
        frame.emit_all(array_select.one_of(place.which, blocks, span))
        return
    if place.axes:
        slice_assignment.filled(
            frame, place, value, span, lambda one, item: _store(frame, one, item, span)
        )
        return
    wanted = place.type.element
    if isinstance(value, View) and not value.axes:
        value = array_views.loaded(value, value.span)
    if wanted.dtype.has_fields and isinstance(value, Items):
        _store_fields(frame, place, value, span)
        return
    given = single(value, "the value")
    if not have_join(scalar_type(given), wanted):
        _other_record(wanted, given, span)
    stored = coerce(given, wanted)
    frame.emit(Store(place.array, place.first, stored, span, place.path))


def _store_fields(frame: Frame, place: View, value: Items, span: Span) -> None:
    """``record = (1, 2.5)``: a tuple, or a record that is an argument, field by field."""
    fields = place.type.dtype.fields
    if place.type.dtype.is_vector or len(fields) != len(value.items):
        _other_record(place.type.element, value, span)
    given = kept(frame, value, "field")
    assert isinstance(given, Items)
    place = kept_view(frame, place, "record")
    for field, item in zip(fields, given.items):
        part = array_views.field_place(place, field.name, span)
        assert part is not None
        _store(frame, part, item, span)


def _other_record(wanted: Scalar, given: Value, span: Span) -> NoReturn:
    whole = f"a vector, {wanted}(…)" if wanted.dtype.is_vector else "a record of the same dtype"
    if not wanted.dtype.has_fields:
        whole = "one of its numbers, v.x"
    cure = records.as_vector(wanted, given)
    fail(
        "store-type",
        Label(span, f"this is `{wanted}`"),
        Label(given.span, f"and this {shown(given)}"),
        help=f"store {whole}" + ", or field by field: a[i].x = …" * wanted.dtype.has_fields + cure,
    )


def augmented(frame: Frame, node: ast.AugAssign) -> None:
    """``target op= value``: the target's subscript is evaluated first, and once."""
    operator, span = BY_NODE[type(node.op)], frame.span(node)
    if not isinstance(node.target, ast.Name) and named_vector(frame, node.target) is not None:
        vectors.augmented_component(frame, node, node.target, operator)
        return
    if not isinstance(node.target, ast.Name):
        given = _target_place(frame, node.target)
        if isinstance(given, View) and given.axes:
            _augmented_part(frame, node, given, operator)
            return
        place, old = _read_first(frame, given, frame.span(node.target))
        with frame.block() as written:
            right = frame.number(node.value)
        if written:
            old = number(kept(frame, old, "old"))
            found = before(frame, place, tuple(written))
            assert isinstance(found, (View, Chosen))
            place = found
            frame.emit_all(written)
        _store(frame, place, binary(frame, operator, old, right, span), span)
        return
    name = frame.ranges.names.get(id(node.target))
    if name is None:
        raise Unknown
    old_value = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
    frame.ranges.names[id(old_value)] = name
    left, right_value = in_order(frame, [old_value, node.value])
    del frame.ranges.names[id(old_value)]
    result = _augmented_value(frame, operator, (left, right_value), span)
    set_value(frame, name, result, span)
    frame.note_store(node.target, name)


def _augmented_part(frame: Frame, node: ast.AugAssign, place: View, operator: Operator) -> None:
    """``a[1:n] += value``."""
    span = frame.span(node)
    room, place = place, kept_view(frame, place, "part")

    def store(one: View, item: Value) -> None:
        old = array_views.loaded(one, frame.span(node.target))
        _store(frame, one, binary(frame, operator, old, number(item), span), span)

    value = frame.value(node.value)
    slice_lengths.check_count(room, value, span)
    slice_assignment.spread(frame, place, value, span, store)


def _read_first(frame: Frame, place: View | Chosen, span: Span) -> tuple[View | Chosen, Expr]:
    """A place whose subscript is evaluated now, and what it holds."""
    if isinstance(place, Chosen):
        return place, number(
            branches.each(frame, place, lambda known: array_views.loaded_place(known, span))
        )
    place = started(place, [_settled_index(frame, index) for index in starts(place)])
    held = place if array_views.is_record(place) else array_views.loaded(place, span)
    return place, number(held)


def _augmented_value(
    frame: Frame, operator: Operator, pair: tuple[Value, Value], span: Span
) -> Value:
    left, right = pair
    if operator is ADD and isinstance(left, Items) and isinstance(right, Items):
        return Items((*left.items, *right.items), span)
    return binary(frame, operator, number(left), number(right), span)


def _target_place(frame: Frame, target: ast.expr) -> View | Chosen:
    """The element or field that an assignment changes."""
    if isinstance(target, ast.Subscript):
        return subscripts.writable(subscripts.place(frame, target), frame.span(target))
    assert isinstance(target, ast.Attribute)
    owner, span = subscripts.owner_place(frame, target.value), frame.span(target)
    if not isinstance(owner, Chosen):
        return subscripts.writable(subscripts.field_place(frame, owner, target.attr, span), span)
    found = branches.each(
        frame, owner, lambda array: subscripts.field_place(frame, array, target.attr, span)
    )
    assert isinstance(found, Chosen)
    return subscripts.writable(found, span)


def _settled_index(frame: Frame, index: Expr) -> Expr:
    """An index that does something or reads memory is computed once, into a variable."""
    if any(isinstance(e, (Apply, Call, Load)) for e in expressions(index)) and not is_atom(index):
        return variable_of(frame, index, "at")
    return index


# ---- tuples ------------------------------------------------------------------------------------


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value) -> None:
    targets, items = _matched(frame, target, _items_of(frame, target, value))
    touched = [_is_touched(frame, v, targets[:i]) for i, v in enumerate(items)]
    last = max((i for i, is_touched in enumerate(touched) if is_touched), default=-1)
    acting = [any(map(acts, items[i : last + 1])) for i in range(len(items))]
    values = [  # what stands before a value that is kept is evaluated before it, if one tells
        kept(frame, item, "old") if touched[i] or (acting[i] and _is_unsteady(item)) else item
        for i, item in enumerate(items)
    ]
    for inner, item in zip(targets, values):
        assign_to(frame, inner, item)


def _items_of(frame: Frame, target: ast.Tuple | ast.List, value: Value) -> Items:
    """What is unpacked: a tuple, or as many elements of an array as there are names."""
    if isinstance(value, Items):
        return value
    if is_vector(value):
        return Items(tuple(vectors.components(frame, value)), value.span)
    fields = array_views.record_items(value)
    if fields is not None:
        return fields
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    numbers = [integer(i, value.span) for i in range(len(target.elts))]
    if isinstance(value, Chosen) and value.type.ndim and not starred:
        found = kept(frame, value, "row")
        parts = [subscripts.item_of(frame, found, n, value.span) for n in numbers]
        return Items(tuple(parts), value.span)
    if is_array(value) and array_views.array_type(value).ndim and not starred:
        rows = [array_views.subscripted(value, [n], value.span) for n in numbers]
        return Items(tuple(rows), value.span)
    fail(
        "unpack",
        Label(frame.span(target), replacements.amount(len(target.elts), "name", "names")),
        Label(value.span, f"{shown(value)} is not a tuple"),
        help=records.all_fields(value) or "write one name, or a tuple of values",
    )


def _matched(
    frame: Frame, target: ast.Tuple | ast.List, value: Items
) -> tuple[list[ast.expr], list[Value]]:
    """Targets and items in pairs; a starred name takes those that are left."""
    targets, items = list(target.elts), list(value.items)
    places = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if len(targets) != len(items) if not places else len(targets) - 1 > len(items):
        fail(
            "unpack",
            Label(frame.span(target), replacements.amount(len(targets), "name", "names")),
            Label(value.span, replacements.amount(len(items), "value", "values")),
            help="write a name for each value, `_` for those not needed, or `*rest` for the rest",
        )
    for place in places:
        starred = targets[place]
        assert isinstance(starred, ast.Starred)
        count = len(items) - len(targets) + 1
        items[place : place + count] = [Items(tuple(items[place : place + count]), value.span)]
        targets[place] = starred.value
    return targets, items


def _is_touched(frame: Frame, value: Value, earlier: list[ast.expr]) -> bool:
    """Whether assigning to the targets before could change what ``value`` means."""
    if isinstance(value, Items):
        return any(_is_touched(frame, item, earlier) for item in value.items)
    if isinstance(value, (Closure, Chosen)):
        return _is_touched(frame, value.inside, earlier)
    if isinstance(value, (Static, Const)):
        return False
    # by Python's names: live ranges of one name may become one variable again
    names = {n.id for t in earlier for n in ast.walk(t) if isinstance(n, ast.Name)}
    stores = any(not isinstance(t, ast.Name) for t in earlier)
    for e in expressions(value):
        if isinstance(e, Var) and e.name.split(".", 1)[0] in names:
            return True
        if isinstance(e, (Call, Load)) and stores:
            return True
    return bool(earlier) and any(has_effect(e) for e in expressions(value))


def _is_unsteady(value: Value) -> bool:
    """Whether a value depends on when it is evaluated, or evaluating it changes memory."""
    if isinstance(value, Items):
        return any(_is_unsteady(item) for item in value.items)
    if isinstance(value, (Static, Closure)):
        return False
    if isinstance(value, Chosen):
        return _is_unsteady(value.inside)
    return any(isinstance(e, Load) or has_effect(e) for e in expressions(value))

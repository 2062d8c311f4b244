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
    reads_or_changes_memory,
)
from pycu2c.frontend.expressions import (
    array_select,
    array_views,
    constant_tables,
    subscripts,
    vectors,
)
from pycu2c.frontend.expressions.arithmetic import binary, coerce
from pycu2c.frontend.expressions.array_views import has_axes
from pycu2c.frontend.expressions.bit_views import store_number
from pycu2c.frontend.expressions.vectors import vector_variable
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.live_ranges import base_name
from pycu2c.frontend.scope.name_resolution import capture_current_values
from pycu2c.frontend.scope.variables import bind, read_variable, set_value
from pycu2c.frontend.statements import branches, slice_assignment
from pycu2c.frontend.subset.unsupported_syntax import UNSUPPORTED
from pycu2c.frontend.value_checks import describe, is_vector, require_number, require_value
from pycu2c.frontend.values import (
    ArraySelect,
    Closure,
    StaticObject,
    TupleValue,
    Value,
    subexpressions,
)
from pycu2c.ir.builders import integer, is_atom, scalar_type
from pycu2c.ir.nodes import Apply, Call, Expr, Load, Var, View
from pycu2c.ir.views import start_indices, with_starts
from pycu2c.ir.walk import expressions
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import ADD, BINARY_BY_NODE, Operator


def assign(context: FunctionContext, node: ast.Assign) -> None:
    """Lower ``target = value`` and ``first = second = value``."""
    only_target = node.targets[0] if len(node.targets) == 1 else None
    # an array that the value creates gets the name of the target
    context.target_names = _target_names(context, only_target, node.value)
    if isinstance(only_target, ast.Name) and isinstance(node.value, ast.Lambda):
        value: Value = device_calls.new_closure(context, node.value, only_target.id)
    else:
        value = context.value(node.value)
    context.target_names = {}
    if len(node.targets) > 1:
        value = materialize(context, value, "value")
    for target in node.targets:
        assign_to(context, target, value)


def _target_names(
    context: FunctionContext, target: ast.expr | None, value: ast.expr
) -> dict[ast.expr, str]:
    """Return the variable that a value is assigned to, or those of the items of a tuple."""
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts)) if len(target.elts) == len(value.elts) else []
    names = context.ranges.names
    return {item: names[id(name)] for name, item in pairs if id(name) in names}


_WEAK_TYPES: dict[object, Scalar] = {int: WEAK_INT, float: WEAK_FLOAT, bool: WEAK_BOOL}


def annotated_assignment(context: FunctionContext, node: ast.AnnAssign) -> None:
    """Lower ``x: float32 = value``: all values that are assigned to ``x`` are converted."""
    if isinstance(node.annotation, ast.Subscript):
        fail(
            "dtype",
            Label(context.span(node.annotation), "this is the type of an array"),
            hint="leave it out: a name for an array has the type of the array",
        )
    annotation = context.value(node.annotation)
    declared_type = None
    if isinstance(annotation, StaticObject):
        type_object = annotation.value
        declared_type = scalar_named(type_object) or (
            _WEAK_TYPES.get(type_object) if isinstance(type_object, type) else None
        )
    if declared_type is None:
        fail(
            "dtype",
            Label(context.span(node.annotation), f"{describe(annotation)} is not a number type"),
            hint="write float32, int32, …; arrays need no annotation",
        )
    _declare(context, node, declared_type)
    if node.value is not None:
        value = require_value(context.value(node.value), "the value")
        assign_to(context, node.target, coerce(value, declared_type))


def _declare(context: FunctionContext, node: ast.AnnAssign, declared_type: Scalar) -> None:
    assert isinstance(node.target, ast.Name)
    name = context.variable_name(node.target)
    previous = context.declared_types.setdefault(name, declared_type)
    if previous != declared_type:
        first_span = context.origins.get(name)
        earlier_labels = [Label(first_span, f"and here `{previous}`")] if first_span else []
        fail(
            "join",
            Label(context.span(node.annotation), f"here `{node.target.id}` is `{declared_type}`"),
            *earlier_labels,
            hint=f"it is declared as `{previous}` before: use two names",
        )


def assign_to(context: FunctionContext, target: ast.expr, value: Value) -> None:
    """Lower ``target = value`` for one target."""
    match target:
        case ast.Name():
            _assign_name(context, target, value)
        case ast.Subscript() | ast.Attribute() if vector_variable(context, target) is not None:
            vectors.assign_component(context, target, require_number(value, "the value"))
        case ast.Subscript() | ast.Attribute():
            with context.block() as prefix:
                view = _target_view(context, target)
            if prefix:
                value = materialize_if_changed(context, value, tuple(prefix))
                context.emit_all(prefix)
            store_value(context, view, value, context.span(target))
        case ast.Tuple() | ast.List():
            _unpack(context, target, value)
        case _:
            UNSUPPORTED.report(context.span(target))  # the subset check rejects others


def _assign_name(context: FunctionContext, target: ast.Name, value: Value) -> None:
    name = context.variable_name(target)
    is_assigned_once = context.is_unconditional and name in context.ranges.single_assignment
    if is_assigned_once and isinstance(value, TupleValue) and constant_tables.is_table(value):
        bind(context, name, value, context.span(target))
    else:
        if isinstance(value, (TupleValue, Closure)):
            value = device_calls.rebind_closure_captures(context, value)
        set_value(context, name, value, context.span(target))


def walrus(context: FunctionContext, node: ast.NamedExpr) -> Value:
    """Lower ``(name := value)`` and return its value."""
    assert isinstance(node.target, ast.Name)
    _assign_name(context, node.target, context.value(node.value))
    name, span = context.variable_name(node.target), context.span(node.target)
    return capture_current_values(context, read_variable(context, name, span))


# ---- elements ----------------------------------------------------------------------------------


def store_value(
    context: FunctionContext, target: View | ArraySelect, value: Value, span: Span
) -> None:
    """Store a value in an element, a slice or a record."""
    if isinstance(target, ArraySelect):
        evaluated = materialize(context, value, "value")
        blocks = []
        for array in target.arrays:
            assert isinstance(array, View)
            with context.block() as statements:
                store_value(context, array, evaluated, span)
            blocks.append(statements)
        context.emit_all(array_select.select_block(target.selector, blocks, span))
        return
    if target.axes:
        slice_assignment.assign_slice(
            context,
            target,
            value,
            span,
            lambda element_view, item: store_value(context, element_view, item, span),
        )
        return
    element = target.type.element
    if isinstance(value, View) and not value.axes:
        value = array_views.load_element(value, value.span)
    if element.dtype.has_fields and isinstance(value, TupleValue):
        _store_fields(context, target, value, span)
        return
    number = require_value(value, "the value")
    if not have_common_type(scalar_type(number), element):
        _report_no_conversion(element, number, span)
    store_number(context, target, number, span)


def _store_fields(context: FunctionContext, target: View, value: TupleValue, span: Span) -> None:
    """Store a tuple field by field: ``record = (1, 2.5)``.

    A record argument is a tuple of its fields, too.
    """
    fields = target.type.dtype.fields
    if target.type.dtype.is_vector or len(fields) != len(value.items):
        _report_no_conversion(target.type.element, value, span)
    evaluated = materialize(context, value, "field")
    assert isinstance(evaluated, TupleValue)
    target = materialize_view(context, target, "record")
    for field, item in zip(fields, evaluated.items):
        view = array_views.field_view(target, field.name, span)
        assert view is not None
        store_value(context, view, item, span)


def _report_no_conversion(element: Scalar, value: Value, span: Span) -> NoReturn:
    """Report a value whose type has no conversion to the type of the element."""
    text = f"a vector, {element}(…)" if element.dtype.is_vector else "a record of the same dtype"
    if not element.dtype.has_fields:
        text = "one of its numbers, v.x"
    by_field = ", or field by field: a[i].x = …" if element.dtype.has_fields else ""
    fail(
        "store-type",
        Label(span, f"this is `{element}`"),
        Label(value.span, f"and this {describe(value)}"),
        hint=f"store {text}{by_field}",
    )


def augmented_assignment(context: FunctionContext, node: ast.AugAssign) -> None:
    """Lower ``target op= value``; the target's subscript is evaluated first, and once."""
    operator, span = BINARY_BY_NODE[type(node.op)], context.span(node)
    if not isinstance(node.target, ast.Name) and vector_variable(context, node.target) is not None:
        vectors.augmented_component(context, node, node.target, operator)
        return
    if not isinstance(node.target, ast.Name):
        _augmented_element(context, node, node.target, operator)
        return
    name = context.variable_name(node.target)
    left, right = evaluate_in_order(context, [node.target, node.value])
    if operator is ADD and isinstance(left, TupleValue) and isinstance(right, TupleValue):
        result: Value = TupleValue((*left.items, *right.items), span)
    else:
        result = binary(context, operator, require_number(left), require_number(right), span)
    set_value(context, name, result, span)


def _augmented_element(
    context: FunctionContext,
    node: ast.AugAssign,
    target: ast.Subscript | ast.Attribute,
    operator: Operator,
) -> None:
    """Lower ``a[i] += value``."""
    view = _target_view(context, target)
    if isinstance(view, View) and view.axes:
        _augmented_slice(context, node, view, operator)
        return
    span = context.span(node)
    view, old = _evaluate_target(context, view, context.span(target))
    with context.block() as prefix:
        right = context.number(node.value)
    if prefix:
        old = require_number(materialize(context, old, "old"))
        unchanged = materialize_if_changed(context, view, tuple(prefix))
        assert isinstance(unchanged, (View, ArraySelect))
        view = unchanged
        context.emit_all(prefix)
    store_value(context, view, binary(context, operator, old, right, span), span)


def _augmented_slice(
    context: FunctionContext, node: ast.AugAssign, view: View, operator: Operator
) -> None:
    """Lower ``a[1:n] += value``."""
    span = context.span(node)
    target = materialize_view(context, view, "part")

    def store(element: View, item: Value) -> None:
        old = array_views.load_element(element, context.span(node.target))
        store_value(
            context, element, binary(context, operator, old, require_number(item), span), span
        )

    with context.block() as evaluation:
        value = context.value(node.value)
    context.emit_all(evaluation)
    slice_assignment.check_slice_lengths(view, value, span)
    # after other statements, the variables in ``view`` may have other values
    is_shifted = slice_assignment.check_operands(
        context, target if evaluation else view, value, span
    )
    source = slice_assignment.materialize_source(context, value)
    slice_assignment.assign_elements(context, target, source, span, store, is_shifted=is_shifted)


def _evaluate_target(
    context: FunctionContext, target: View | ArraySelect, span: Span
) -> tuple[View | ArraySelect, Expr]:
    """Evaluate the subscript of a target; return the target and its old value."""
    if isinstance(target, View):
        starts = [_materialize_index(context, index) for index in start_indices(target)]
        target = with_starts(target, starts)
        if array_views.is_record(target):
            return target, require_number(target)
    old = branches.for_each_array(
        context, target, lambda a: array_views.load_element(array_views.whole_view(a, span), span)
    )
    return target, require_number(old)


def _target_view(
    context: FunctionContext, target: ast.Subscript | ast.Attribute
) -> View | ArraySelect:
    """Return the element or field that an assignment changes."""
    span = context.span(target)
    if isinstance(target, ast.Subscript):
        return subscripts.check_writable(subscripts.target_view(context, target), span)
    owner = subscripts.owner_view(context, target.value)
    view = branches.for_each_array(
        context, owner, lambda a: subscripts.record_field_view(context, a, target.attr, span)
    )
    assert isinstance(view, (View, ArraySelect))
    return subscripts.check_writable(view, span)


def _materialize_index(context: FunctionContext, index: Expr) -> Expr:
    """Assign an index with side effects or memory reads to a variable."""
    if any(isinstance(e, (Apply, Call, Load)) for e in expressions(index)) and not is_atom(index):
        return assign_temporary(context, index, "at")
    return index


# ---- tuples ------------------------------------------------------------------------------------


def _unpack(context: FunctionContext, target: ast.Tuple | ast.List, value: Value) -> None:
    targets, items = _match_targets(context, target, _unpacked_items(context, target, value))
    may_change = [_is_changed(item, targets[:i]) for i, item in enumerate(items)]
    last_changed = max((i for i, is_changed in enumerate(may_change) if is_changed), default=-1)
    values = []
    # the values before a materialized one with side effects must be evaluated before it
    for i, item in enumerate(items):
        has_effects = any(map(may_have_effects, items[i : last_changed + 1]))
        is_materialized = may_change[i] or (has_effects and reads_or_changes_memory(item))
        values.append(materialize(context, item, "old") if is_materialized else item)
    for inner_target, item in zip(targets, values):
        assign_to(context, inner_target, item)


def _unpacked_items(
    context: FunctionContext, target: ast.Tuple | ast.List, value: Value
) -> TupleValue:
    """Return the items to unpack: those of a tuple, or elements of an array."""
    if isinstance(value, TupleValue):
        return value
    if is_vector(value):
        return TupleValue(tuple(vectors.components(context, value)), value.span)
    fields = array_views.record_fields(value)
    if fields is not None:
        return fields
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    indices = [integer(i, value.span) for i in range(len(target.elts))]
    if has_axes(value) and not starred:
        array = materialize(context, value, "row") if isinstance(value, ArraySelect) else value
        assert has_axes(array)
        items = [subscripts.item_at(context, array, index, value.span) for index in indices]
        return TupleValue(tuple(items), value.span)
    fail(
        "unpack",
        Label(context.span(target), hints.count_phrase(len(target.elts), "name")),
        Label(value.span, f"{describe(value)} is not a tuple"),
        hint=hints.all_fields_hint(value) or "write one name, or a tuple of values",
    )


def _match_targets(
    context: FunctionContext, target: ast.Tuple | ast.List, value: TupleValue
) -> tuple[list[ast.expr], list[Value]]:
    """Return the targets and their items; a starred name gets the remaining items."""
    targets, items = list(target.elts), list(value.items)
    starred_positions = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if len(targets) != len(items) if not starred_positions else len(targets) - 1 > len(items):
        fail(
            "unpack",
            Label(context.span(target), hints.count_phrase(len(targets), "name")),
            Label(value.span, hints.count_phrase(len(items), "value")),
            hint="write a name for each value, `_` for those not needed, or `*rest` for the rest",
        )
    for i in starred_positions:
        target_node = targets[i]
        assert isinstance(target_node, ast.Starred)
        count = len(items) - len(targets) + 1
        items[i : i + count] = [TupleValue(tuple(items[i : i + count]), value.span)]
        targets[i] = target_node.value
    return targets, items


def _is_changed(value: Value, earlier: list[ast.expr]) -> bool:
    """Return whether assignments to earlier targets could change a value."""
    # compare Python names, because live ranges of one name may be merged again
    names = {n.id for t in earlier for n in ast.walk(t) if isinstance(n, ast.Name)}
    stores_elements = any(not isinstance(t, ast.Name) for t in earlier)
    for e in subexpressions(value):
        if isinstance(e, Var) and base_name(e.name) in names:
            return True
        if stores_elements and (isinstance(e, (Call, Load)) or has_effect(e)):
            return True
    return False

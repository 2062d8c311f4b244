"""Values that depend on control flow: assigned in branches, or computed from an array selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from pycu2c.base.source import Span
from pycu2c.base.types import Void, have_common_type, promote
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_select import record_arrays, select_block, selected_condition
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.variables import read_variable, set_value, with_span
from pycu2c.frontend.value_checks import is_array, is_none, is_number
from pycu2c.frontend.values import ArraySelect, StaticObject, TupleValue, Value
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Const, Evaluate, Expr, If, Select, Stmt, Var, View

Arm: TypeAlias = tuple[Value, Sequence[Stmt]]  # a value and the statements before it


def value_of_branches(
    context: FunctionContext, test: Expr, span: Span, then: Arm, orelse: Arm
) -> Value:
    """Emit an ``if`` whose arms assign a fresh variable; return the variable's value."""
    name, blocks = _assign_in_blocks(context, [then, orelse], span)
    context.emit(If(test, blocks[0], blocks[1], span))
    return read_variable(context, name, span)


def _assign_in_blocks(
    context: FunctionContext, arms: list[Arm], span: Span
) -> tuple[str, list[tuple[Stmt, ...]]]:
    """Return a fresh variable and the blocks that set it."""
    name = context.fresh("chosen")
    arrays_changed = context.arrays_changed
    try:
        for value, _ in arms:
            record_arrays(context, name, value)
    finally:
        context.arrays_changed = arrays_changed  # the variable is read only after its assignment
    blocks = []
    for value, prefix in arms:
        with context.block() as statements:
            context.emit_all(prefix)
            set_value(context, name, value, span)
        blocks.append(tuple(statements))
    return name, blocks


def for_each_array(
    context: FunctionContext, array: Var | View | ArraySelect, use: Callable[[Var | View], Value]
) -> Value:
    """Apply ``use`` to an array, or to each array of a selection; return the selected result."""
    if not isinstance(array, ArraySelect):
        return use(array)
    arms: list[Arm] = []
    for option in array.arrays:
        one_array = with_span(option, array.span)
        assert is_array(one_array)
        with context.block() as prefix:
            value = use(one_array)
        arms.append((value, prefix))
    values = [value for value, _ in arms]
    if not any(prefix for _, prefix in arms):
        merged = merge_values(array.selector, values, array.span)
        if merged is not None:
            return merged
    if all(_is_none_or_void(value) for value in values):
        effects = [(*prefix, *_effect_statements(value)) for value, prefix in arms]
        context.emit_all(select_block(array.selector, effects, array.span))
        return StaticObject(None, array.span)
    name, blocks = _assign_in_blocks(context, arms, array.span)
    context.emit_all(select_block(array.selector, blocks, array.span))
    return read_variable(context, name, array.span)


def _is_none_or_void(value: Value) -> bool:
    return is_none(value) or isinstance(getattr(value, "type", None), Void)


def _effect_statements(value: Value) -> tuple[Stmt, ...]:
    if isinstance(value, (StaticObject, TupleValue)) or not _is_none_or_void(value):
        return ()
    assert not isinstance(value, ArraySelect)
    return (Evaluate(value, value.span),)  # type: ignore[arg-type]


def merge_values(selector: Expr, values: Sequence[Value], span: Span) -> Value | None:
    """Return the selected value as an expression; None if it needs statements."""
    first = values[0]
    numbers = [value for value in values if is_number(value)]
    if len(numbers) == len(values):
        return _select_number(selector, numbers, span)
    arrays = [value for value in values if is_array(value)]
    if len(arrays) == len(values):
        return ArraySelect(selector, tuple(arrays), span)
    if isinstance(first, StaticObject):
        same = all(isinstance(v, StaticObject) and v.value == first.value for v in values)
        return first if same else None
    tuples = [value for value in values if isinstance(value, TupleValue)]
    if len(tuples) < len(values) or len({len(t.items) for t in tuples}) != 1:
        return None
    items = [merge_values(selector, group, span) for group in zip(*(t.items for t in tuples))]
    merged = tuple(item for item in items if item is not None)
    return TupleValue(merged, span, tuples[0].names) if len(merged) == len(items) else None


def promote_items(items: TupleValue) -> TupleValue:
    """Convert the numbers of a tuple to their common type, if they have one."""
    numbers = [value for value in items.items if is_number(value)]
    types = list(map(scalar_type, numbers))
    all_numbers = numbers and len(numbers) == len(items.items)
    if not all_numbers or not all(map(have_common_type, types, types[1:])):
        return items
    return TupleValue(tuple(_to_common_type(numbers)), items.span, items.names)


def _to_common_type(numbers: Sequence[Expr]) -> list[Expr]:
    types = list(map(scalar_type, numbers))
    common = types[0] if len(set(types)) == 1 else reduce(promote, types)
    return [e if e.type == common else coerce(e, common) for e in numbers]


def _select_number(selector: Expr, numbers: Sequence[Expr], span: Span) -> Expr:
    *others, last = _to_common_type(numbers)
    common = scalar_type(last)
    if isinstance(last, Const):
        if all(isinstance(e, Const) and e.value == last.value for e in others):
            return last
    out = last
    for position, e in reversed(list(enumerate(others))):
        out = Select(selected_condition(selector, position, span), e, out, common, span)
    return out

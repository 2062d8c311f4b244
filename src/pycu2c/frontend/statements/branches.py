"""What depends on which way a program went: a value that is made in one of several blocks, and
what is done with an array that is one of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from pycu2c.base.source import Span
from pycu2c.base.types import Void, have_join, join
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_select import is_which, note_arrays, one_of
from pycu2c.frontend.function_context import (
    Chosen,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    is_number,
)
from pycu2c.frontend.scope.variables import at, read, set_value
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Const, Evaluate, Expr, If, Select, Stmt, Var, View

Arm: TypeAlias = tuple[Value, Sequence[Stmt]]  # a value, after statements


def branched(frame: Frame, test: Expr, span: Span, then: Arm, orelse: Arm) -> Value:
    """As an if statement that sets a variable: for tuples, arrays, and arms that need
    statements."""
    name, blocks = _in_blocks(frame, [then, orelse], span)
    frame.emit(If(test, blocks[0], blocks[1], span))
    return read(frame, name, span)


def _in_blocks(frame: Frame, arms: list[Arm], span: Span) -> tuple[str, list[tuple[Stmt, ...]]]:
    """A fresh variable, and the blocks that set it."""
    name = frame.fresh("chosen")
    found = frame.found_arrays
    try:
        for value, _ in arms:
            note_arrays(frame, name, value)
    finally:
        frame.found_arrays = found  # what the variable stands for is known before it is used
    blocks = []
    for value, written in arms:
        with frame.block() as inside:
            frame.emit_all(written)
            set_value(frame, name, value, span)
        blocks.append(tuple(inside))
    return name, blocks


def each(frame: Frame, array: Chosen, use: Callable[[Var | View], Value]) -> Value:
    """What ``use`` gives for the array that it is."""
    arms: list[Arm] = []
    for option in array.options:
        known = at(option, array.span)
        assert is_array(known)
        with frame.block() as written:
            value = use(known)
        arms.append((value, written))
    values = [value for value, _ in arms]
    if not any(written for _, written in arms):
        plain = together(array.which, values, array.span)
        if plain is not None:
            return plain
    if all(_is_nothing(value) for value in values):
        blocks = [(*written, *_evaluated(value)) for value, written in arms]
        frame.emit_all(one_of(array.which, blocks, array.span))
        return Static(None, array.span)
    name, several = _in_blocks(frame, arms, array.span)
    frame.emit_all(one_of(array.which, several, array.span))
    return read(frame, name, array.span)


def _is_nothing(value: Value) -> bool:
    is_none = isinstance(value, Static) and value.value is None
    return is_none or isinstance(getattr(value, "type", None), Void)


def _evaluated(value: Value) -> tuple[Stmt, ...]:
    if isinstance(value, (Static, Items)) or not _is_nothing(value):
        return ()
    assert not isinstance(value, Chosen)
    return (Evaluate(value, value.span),)  # type: ignore[arg-type]


def together(which: Expr, values: Sequence[Value], span: Span) -> Value | None:
    """One of several values, as an expression; None if it takes statements."""
    first = values[0]
    numbers = [value for value in values if is_number(value)]
    if len(numbers) == len(values):
        return _number(which, numbers, span)
    arrays = [value for value in values if is_array(value)]
    if len(arrays) == len(values):
        return Chosen(which, tuple(arrays), span)
    if isinstance(first, Static):
        same = all(isinstance(v, Static) and v.value == first.value for v in values)
        return first if same else None
    tuples = [value for value in values if isinstance(value, Items)]
    if len(tuples) < len(values) or len({len(t.items) for t in tuples}) != 1:
        return None
    items = [together(which, group, span) for group in zip(*(t.items for t in tuples))]
    known = tuple(item for item in items if item is not None)
    return Items(known, span, tuples[0].names) if len(known) == len(items) else None


def alike(items: Items) -> Items:
    """Numbers in the type that they have together; other items as they are."""
    numbers = [value for value in items.items if is_number(value)]
    kinds = list(map(scalar_type, numbers))
    if not numbers or len(numbers) < len(items.items) or not all(map(have_join, kinds, kinds[1:])):
        return items
    return Items(tuple(_in_one_type(numbers)), items.span, items.names)


def _in_one_type(numbers: Sequence[Expr]) -> list[Expr]:
    kinds = list(map(scalar_type, numbers))
    common = kinds[0] if len(set(kinds)) == 1 else reduce(join, kinds)
    return [e if e.type == common else coerce(e, common) for e in numbers]


def _number(which: Expr, numbers: Sequence[Expr], span: Span) -> Expr:
    *others, last = _in_one_type(numbers)
    common = scalar_type(last)
    if isinstance(last, Const):
        if all(isinstance(e, Const) and e.value == last.value for e in others):
            return last
    out = last
    for position, e in reversed(list(enumerate(others))):
        out = Select(is_which(which, position, span), e, out, common, span)
    return out

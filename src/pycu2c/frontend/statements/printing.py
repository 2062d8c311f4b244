"""``print(...)`` -> ir.Print: the text and the values that it is filled with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import BFLOAT16, FLOAT32
from pycu2c.base.records import replace
from pycu2c.base.types import Array, Constant, ParameterType, Scalar, Tuple, Void
from pycu2c.base.values import as_vector
from pycu2c.frontend.evaluation_order import in_order, settled
from pycu2c.frontend.expressions import comprehensions
from pycu2c.frontend.expressions.composite_values import leaves, type_of
from pycu2c.frontend.function_context import Frame, Items, Static, Value, shown
from pycu2c.frontend.hints import records
from pycu2c.ir.nodes import Expr, Print
from pycu2c.ir.print_format import Piece, Slot, Text

_CONVERSIONS = {-1: "", 115: "s", 114: "r", 97: "a"}  # as ``ast`` numbers them


def print_call(frame: Frame, node: ast.Call) -> Value:
    """Emit what is printed; the call itself gives None."""
    sep, end = _options(frame, node)
    words, numbers = texts_of(frame, node.args)
    text: list[Piece] = []
    for position, word in enumerate(words):
        text += [*([sep] if position else []), *word]
    span = frame.span(node)
    frame.emit(Print(_joined([*text, end]), tuple(numbers), span))
    return Static(None, span)


def texts_of(frame: Frame, nodes: list[ast.expr]) -> tuple[list[Text], list[Expr]]:
    """What each argument is as text, and the numbers for the slots of all."""
    found = iter(in_order(frame, list(values_in(nodes))))
    numbers: list[Expr] = []
    words: list[Text] = []
    for argument in nodes:
        words += _words(frame, argument, found, numbers)
    return words, numbers


def _options(frame: Frame, node: ast.Call) -> tuple[str, str]:
    """``sep`` and ``end``."""
    found = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        if keyword.arg == "flush":  # the host writes after the launch
            continue
        if keyword.arg not in found:
            fail(
                "call",
                Label(frame.span(keyword), "print() takes values, sep= and end= in a kernel"),
                help="what a kernel prints goes to sys.stdout after the launch",
            )
        given = frame.value(keyword.value)
        if not isinstance(given, Static) or not isinstance(given.value, (str, type(None))):
            fail(
                "constant-needed",
                Label(frame.span(keyword.value), f"{keyword.arg} is text"),
                help=f'write {keyword.arg}="…"',
            )
        if given.value is not None:
            found[keyword.arg] = given.value
    return found["sep"], found["end"]


def values_in(nodes: list[ast.expr]) -> Iterator[ast.expr]:
    """The expressions in what is printed, in order of evaluation."""
    for node in nodes:
        match node:
            case ast.Starred():
                yield node.value
            case ast.JoinedStr():
                yield from values_in(node.values)
            case ast.FormattedValue():
                yield from values_in([node.value])
                yield from values_in([node.format_spec] if node.format_spec else [])
            case _:
                yield node


def _words(frame: Frame, node: ast.expr, found: Iterator[Value], numbers: list[Expr]) -> list[Text]:
    """What one argument of print() writes; a starred one writes several words."""
    match node:
        case ast.Starred():
            items = comprehensions.static_items(settled(frame, next(found)))
            return [_word(frame, node.value, item, numbers) for item in items]
        case ast.JoinedStr():
            return [_formatted(frame, node, found, numbers)]
        case _:
            return [_word(frame, node, next(found), numbers)]


def _formatted(
    frame: Frame, node: ast.JoinedStr, found: Iterator[Value], numbers: list[Expr]
) -> Text:
    """An f-string."""
    pieces: list[Piece] = []
    for part in node.values:
        match part:
            case ast.FormattedValue(value=ast.JoinedStr() as inner):
                if part.conversion != -1 or part.format_spec is not None:
                    fail(
                        "string",
                        Label(frame.span(inner), "this f-string is formatted once more"),
                        help="format the values in it",
                    )
                pieces += _formatted(frame, inner, found, numbers)
            case ast.FormattedValue():
                slot = _slot(frame, part.value, next(found), numbers)
                spec: Text = ()
                if isinstance(part.format_spec, ast.JoinedStr):
                    spec = _formatted(frame, part.format_spec, found, numbers)
                slot = replace(slot, conversion=_CONVERSIONS[part.conversion], spec=spec)
                _check_format(frame, part, slot)
                pieces.append(slot)
            case _:
                pieces += _text(next(found))
    return _joined(pieces)


def _check_format(frame: Frame, node: ast.FormattedValue, slot: Slot) -> None:
    """A format that is known now is tried now, with a number of the type."""
    spec = "".join(piece for piece in slot.spec if isinstance(piece, str))
    if any(isinstance(piece, Slot) for piece in slot.spec):
        return
    try:
        format("" if slot.conversion else _sample(slot.kind), spec)
    except (ValueError, TypeError) as error:
        assert node.format_spec is not None
        fail(
            "string",
            Label(frame.span(node.value), f"`{spec}` does not format it: {error}"),
            help="write a format that Python has for it, such as :>8 or, for a float, :.3f",
        )


def _sample(kind: ParameterType) -> object:
    """Some value of a type."""
    match kind:
        case Tuple(items):
            return tuple(map(_sample, items))
        case Constant(value=value):
            return value
        case Scalar(dtype) if dtype.is_vector:
            return as_vector(0, dtype)
        case Scalar(dtype):
            number = np.zeros((), FLOAT32.numpy if dtype is BFLOAT16 else dtype.numpy)[()]
            return number.item() if kind.weak else number
        case Array():
            raise AssertionError("arrays are not printed")


def _text(value: Value) -> Text:
    assert isinstance(value, Static)
    assert isinstance(value.value, str)
    return (value.value,)


def _slot(frame: Frame, node: ast.expr, value: Value, numbers: list[Expr]) -> Slot:
    """The place of a value; its numbers are appended."""
    _check(frame, node, value)
    numbers += leaves(value)
    return Slot(type_of(value), "s")


def _word(frame: Frame, node: ast.expr, value: Value, numbers: list[Expr]) -> Text:
    """A value as print() shows it."""
    is_text = isinstance(value, Static) and isinstance(value.value, str)
    return _text(value) if is_text else (_slot(frame, node, value, numbers),)


def _check(frame: Frame, node: ast.expr, value: Value) -> None:
    """That the host can show it: numbers, None, and tuples of these and of text."""
    match value:
        case Items():
            for item in value.items:
                _check(frame, node, item)
        case Static(value=str() | None):
            return
        case Static():
            fail(
                "argument-type",
                Label(frame.span(node), f"this is {shown(value)}"),
                help="a kernel prints numbers, text, None, and tuples of these",
            )
        case _:
            for leaf in leaves(value):
                handle = None if isinstance(leaf.type, Void) else leaf.type.dtype.handle
                if handle is not None:
                    fail(
                        "argument-type",
                        Label(frame.span(node), f"this is a {handle.access} `{leaf.type}`"),
                        help="print what is read from it",
                    )
                if isinstance(leaf.type, Array):
                    fail(
                        "argument-type",
                        Label(frame.span(node), f"this is an array `{leaf.type}`"),
                        help=records.all_fields(leaf) or "print its elements: print(a[i])",
                    )


def _joined(pieces: list[Piece]) -> Text:
    """Neighbouring text in one piece."""
    out: list[Piece] = []
    for piece in pieces:
        if out and isinstance(piece, str) and isinstance(out[-1], str):
            out[-1] += piece
        elif piece != "":
            out.append(piece)
    return tuple(out)

"""Lower ``print(...)`` to ``ir.Print``, a text with slots for values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.types import Array, Void
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize_effects
from pycu2c.frontend.expressions import comprehensions
from pycu2c.frontend.expressions.composite_values import type_of
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import reject
from pycu2c.frontend.values import StaticObject, TupleValue, Value, leaves
from pycu2c.ir.nodes import Expr, Print
from pycu2c.ir.print_format import FormatField, Piece, PrintFormat


def print_call(context: FunctionContext, node: ast.Call) -> Value:
    """Emit the print statement; the call returns None."""
    sep, end = _options(context, node)
    texts, numbers = texts_of(context, node.args)
    pieces: list[Piece] = []
    for position, text in enumerate(texts):
        pieces += [*([sep] if position else []), *text]
    span = context.span(node)
    context.emit(Print(_merge_texts([*pieces, end]), tuple(numbers), span))
    return StaticObject(None, span)


def texts_of(
    context: FunctionContext, nodes: list[ast.expr]
) -> tuple[list[PrintFormat], list[Expr]]:
    """Return the text of each argument, and the numbers for all slots."""
    values = iter(evaluate_in_order(context, list(printed_expressions(nodes))))
    numbers: list[Expr] = []
    texts: list[PrintFormat] = []
    for argument in nodes:
        texts += _argument_texts(context, argument, values, numbers)
    return texts, numbers


def _options(context: FunctionContext, node: ast.Call) -> tuple[str, str]:
    """Return ``sep`` and ``end``."""
    options = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        if keyword.arg == "flush":  # the host writes after the launch
            continue
        if keyword.arg not in options:
            fail(
                "call",
                Label(context.span(keyword), "print() takes values, sep= and end= in a kernel"),
                hint="what a kernel prints goes to sys.stdout after the launch",
            )
        option = context.value(keyword.value)
        if not isinstance(option, StaticObject) or not isinstance(option.value, (str, type(None))):
            fail(
                "constant-needed",
                Label(context.span(keyword.value), f"{keyword.arg} is text"),
                hint=f'write {keyword.arg}="…"',
            )
        if option.value is not None:
            options[keyword.arg] = option.value
    return options["sep"], options["end"]


def printed_expressions(nodes: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield the expressions to print, in the order of evaluation."""
    for node in nodes:
        match node:
            case ast.Starred():
                yield node.value
            case ast.JoinedStr():
                yield from printed_expressions(node.values)
            case ast.FormattedValue():
                yield from printed_expressions([node.value])
                yield from printed_expressions([node.format_spec] if node.format_spec else [])
            case _:
                yield node


def _argument_texts(
    context: FunctionContext, node: ast.expr, values: Iterator[Value], numbers: list[Expr]
) -> list[PrintFormat]:
    """Return the texts of one argument of print(); a starred one gives more than one."""
    match node:
        case ast.Starred():
            items = comprehensions.static_items(materialize_effects(context, next(values)))
            return [_value_text(context, node.value, item, numbers) for item in items]
        case ast.JoinedStr():
            return [_fstring_text(context, node, values, numbers)]
        case _:
            return [_value_text(context, node, next(values), numbers)]


def _fstring_text(
    context: FunctionContext, node: ast.JoinedStr, values: Iterator[Value], numbers: list[Expr]
) -> PrintFormat:
    """Return the text of an f-string."""
    pieces: list[Piece] = []
    for part in node.values:
        match part:
            case ast.FormattedValue(value=ast.JoinedStr() as inner):
                if part.conversion != -1 or part.format_spec is not None:
                    fail(
                        "string",
                        Label(context.span(inner), "this f-string is formatted once more"),
                        hint="format the values in it",
                    )
                pieces += _fstring_text(context, inner, values, numbers)
            case ast.FormattedValue():
                slot = _slot(context, part.value, next(values), numbers)
                spec: PrintFormat = ()
                if isinstance(part.format_spec, ast.JoinedStr):
                    spec = _fstring_text(context, part.format_spec, values, numbers)
                conversion = "" if part.conversion == -1 else chr(part.conversion)
                pieces.append(replace(slot, conversion=conversion, spec=spec))
            case _:
                pieces += _string_text(next(values))
    return _merge_texts(pieces)


def _string_text(value: Value) -> PrintFormat:
    assert isinstance(value, StaticObject)
    assert isinstance(value.value, str)
    return (value.value,)


def _slot(
    context: FunctionContext, node: ast.expr, value: Value, numbers: list[Expr]
) -> FormatField:
    """Return the slot of a value; append its numbers."""
    _check_printable(context, node, value)
    numbers += leaves(value)
    return FormatField(type_of(value), "s")


def _value_text(
    context: FunctionContext, node: ast.expr, value: Value, numbers: list[Expr]
) -> PrintFormat:
    """Return a value as print() shows it."""
    is_text = isinstance(value, StaticObject) and isinstance(value.value, str)
    return _string_text(value) if is_text else (_slot(context, node, value, numbers),)


def _check_printable(context: FunctionContext, node: ast.expr, value: Value) -> None:
    """Check that the host can print a value: numbers, None, text, and tuples of these."""
    match value:
        case TupleValue():
            for item in value.items:
                _check_printable(context, node, item)
        case StaticObject(value=str() | None):
            return
        case StaticObject():
            reject(
                value,
                "argument-type",
                "a kernel prints numbers, text, None, and tuples of these",
                context.span(node),
            )
        case _:
            for leaf in leaves(value):
                handle = None if isinstance(leaf.type, Void) else leaf.type.dtype.handle
                if handle is not None:
                    fail(
                        "argument-type",
                        Label(context.span(node), f"this is a {handle.access} `{leaf.type}`"),
                        hint="print a value that is read from it",
                    )
                if isinstance(leaf.type, Array):
                    fail(
                        "argument-type",
                        Label(context.span(node), f"this is an array `{leaf.type}`"),
                        hint=hints.all_fields_hint(leaf) or "print its elements: print(a[i])",
                    )


def _merge_texts(pieces: list[Piece]) -> PrintFormat:
    """Merge adjacent texts."""
    out: list[Piece] = []
    for piece in pieces:
        if out and isinstance(piece, str) and isinstance(out[-1], str):
            out[-1] += piece
        elif piece != "":
            out.append(piece)
    return tuple(out)

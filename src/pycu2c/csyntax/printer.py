"""Print the statements, declarations and files of the C tree.

Only this module writes semicolons, braces and indentation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import assert_never

from pycu2c.csyntax import nodes as c
from pycu2c.csyntax.expression_printer import (
    print_expr,
    print_prefix,
    print_type,
    print_unary_operand,
)

__all__ = ["print_expr", "print_file", "print_stmt", "print_type"]

INDENT = "    "
MAX_LINE = 100  # longer parameter lists are wrapped
MAX_IF_LINE = 80  # the longest `if (c) return;` on one line

# ---- statements ----------------------------------------------------------------------------


def print_stmt(s: c.Stmt, depth: int = 0) -> str:
    """Return the lines of a statement, indented ``depth`` times, without a final newline."""
    return "\n".join(_lines(s, depth))


def _lines(s: c.Stmt, depth: int) -> Iterator[str]:
    indent = INDENT * depth
    match s:
        case c.IfStmt():
            yield from _if_lines(s, depth)
        case c.ForStmt(init, condition, step, body):
            yield from _braced(f"for ({_for_head(init, condition, step)})", body, depth)
        case c.WhileStmt(condition, body):
            yield from _braced(f"while ({print_expr(condition)})", body, depth)
        case c.CompoundStmt(body):
            yield indent + "{"
            yield from _block_lines(body, depth)
            yield indent + "}"
        case c.LabelStatement(name):
            yield f"{INDENT * (depth - 1)}{name}:;"
        case c.Switch(subject, body):
            yield from _braced(f"switch ({print_expr(subject)})", body, depth)
        case c.Case(number):
            yield f"{INDENT * (depth - 1)}case {number}:;"
        case c.Comment(text):
            yield from (indent + line for line in _comment_lines(text))
        case c.Pragma(text):
            yield f"{indent}#pragma {text}"
        case c.LineDirective():
            yield _line_directive(s)
        case c.Blank():
            yield ""
        case c.Verbatim(text):
            yield from (f"{indent}{line}".rstrip() for line in text.splitlines())
        case _:
            yield f"{indent}{_simple_text(s)};"


SimpleStmt = (
    c.DeclStmt
    | c.AssignStmt
    | c.Increment
    | c.ExprStmt
    | c.BreakStmt
    | c.ContinueStmt
    | c.Goto
    | c.ReturnStmt
)


def _simple_text(s: SimpleStmt) -> str:
    """Return a statement of one line, without its semicolon."""
    match s:
        case c.DeclStmt(type_, name, init, qualifiers):
            head = " ".join((*qualifiers, print_type(type_, name)))
            return head if init is None else f"{head} = {print_expr(init)}"
        case c.AssignStmt(target, value, op):
            return f"{print_unary_operand(target)} {op} {print_expr(value)}"
        case c.Increment(target, op):
            return print_prefix(op, target)
        case c.ExprStmt(expression):
            return print_expr(expression)
        case c.BreakStmt():
            return "break"
        case c.ContinueStmt():
            return "continue"
        case c.Goto(label):
            return f"goto {label}"
        case c.ReturnStmt(value):
            return "return" if value is None else f"return {print_expr(value)}"
        case _:
            assert_never(s)


def _for_head(
    init: c.DeclStmt | c.AssignStmt | None,
    condition: c.Expr | None,
    step: c.AssignStmt | c.Increment | None,
) -> str:
    parts = ["" if init is None else _simple_text(init)]
    parts.append("" if condition is None else f" {print_expr(condition)}")
    parts.append("" if step is None else f" {_simple_text(step)}")
    return ";".join(parts)


def _block_lines(body: tuple[c.Stmt, ...], depth: int) -> Iterator[str]:
    for s in body:
        yield from _lines(s, depth + 1)


def _braced(head: str, body: tuple[c.Stmt, ...], depth: int) -> Iterator[str]:
    yield f"{INDENT * depth}{head} {{"
    yield from _block_lines(body, depth)
    yield INDENT * depth + "}"


def _if_lines(s: c.IfStmt, depth: int) -> Iterator[str]:
    """Yield the lines of an ``if``; an ``else`` with a single IfStmt becomes ``else if``."""
    indent = INDENT * depth
    head = f"{indent}if ({print_expr(s.condition)})"
    if (
        not s.orelse
        and len(s.then) == 1
        and isinstance(s.then[0], c.BreakStmt | c.ContinueStmt | c.ReturnStmt | c.Goto)
    ):
        line = f"{head} {_simple_text(s.then[0])};"
        if len(line) <= MAX_IF_LINE:
            yield line
            return
    yield head + " {"
    yield from _block_lines(s.then, depth)
    orelse = s.orelse
    while len(orelse) == 1 and isinstance(orelse[0], c.IfStmt):
        yield f"{indent}}} else if ({print_expr(orelse[0].condition)}) {{"
        yield from _block_lines(orelse[0].then, depth)
        orelse = orelse[0].orelse
    if orelse:
        yield indent + "} else {"
        yield from _block_lines(orelse, depth)
    yield indent + "}"


def _initializer_lines(
    values: tuple[c.Expr, ...], extents: tuple[int, ...], depth: int
) -> Iterator[str]:
    """Yield lines with as many values as fit, with braces for each axis but the first."""
    indent = INDENT * depth
    if len(extents) > 1:
        size = len(values) // extents[0]
        for start in range(0, len(values), size):
            inner_lines = list(_initializer_lines(values[start : start + size], extents[1:], 0))
            if len(inner_lines) == 1:
                yield f"{indent}{{{inner_lines[0]}}},"
            else:
                yield from (
                    f"{indent}{{",
                    *(f"{indent}{INDENT}{t}" for t in inner_lines),
                    f"{indent}}},",
                )
        return
    line = indent
    for position, value in enumerate(values):
        text = print_expr(value) + (", " if position + 1 < len(values) else "")
        if len(line) + len(text) > MAX_LINE:
            yield line.rstrip()
            line = indent
        line += text
    yield line


def _comment_lines(text: str) -> Iterator[str]:
    """Yield ``//`` lines without control characters, which could end or continue the comment."""
    for line in text.splitlines() or [""]:
        printable = "".join(_printable(character) for character in line).rstrip()
        if printable.endswith(("\\", "??/")):  # either continues the comment on the next line
            printable += " ."
        yield f"// {printable}".rstrip()


def _line_directive(line: c.LineDirective) -> str:
    return f"#line {line.number} {print_expr(c.String(line.file))}"


def _printable(character: str) -> str:
    if character == "\t":
        return " "
    return "" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") else character


# ---- a file --------------------------------------------------------------------------------


def print_file(file: c.File) -> str:
    """Return the text of a file, which ends with a newline."""
    return "".join(f"{line}\n" for item in file.items for line in _item_lines(item))


def _item_lines(item: c.Item) -> Iterator[str]:
    match item:
        case c.FunctionDecl():
            yield from _header_lines(item, " {")
            yield from _block_lines(item.body, 0)
            yield "}"
        case c.Prototype(function):
            yield from _header_lines(function, ";")
        case c.Struct(name, fields, packed):
            yield f"struct {'__attribute__((packed)) ' if packed else ''}{name} {{"
            yield from (f"{INDENT}{print_type(f.type, f.name)};" for f in fields)
            yield "};"
        case c.ConstantTable(type_, name, values, qualifiers):
            yield f"{' '.join(qualifiers)} {print_type(type_, name)} = {{"
            yield from _initializer_lines(values, type_.extents, 1)
            yield "};"
        case c.Include(header):
            yield f"#include <{header}>"
        case c.Verbatim(text):
            yield text.rstrip("\n")
        case c.Comment(text):
            yield from _comment_lines(text)
        case c.LineDirective():
            yield _line_directive(item)
        case c.Blank():
            yield ""
        case _:
            assert_never(item)


def _header_lines(function: c.FunctionDecl, end: str) -> Iterator[str]:
    """Yield ``void f(int a) {``; long parameter lists continue below the first parameter."""
    words = (*function.qualifiers, print_type(function.result, f"{function.name}("))
    line = " ".join(words)
    margin = " " * min(len(line), MAX_LINE // 2)
    pieces = _parameter_texts(function.parameters, end)
    for i, piece in enumerate(pieces):
        if i and len(line) + 1 + len(piece) > MAX_LINE:
            yield line
            line = margin + piece
        else:
            line += f" {piece}" if i else piece
    yield line


def _parameter_texts(parameters: tuple[c.ParameterDecl, ...], end: str) -> list[str]:
    texts = [print_type(p.type, p.name) for p in parameters] or ["void"]
    return [f"{text}," for text in texts[:-1]] + [f"{texts[-1]}){end}"]

"""Inline functions that contain barriers into kernels, so that fission sees every barrier.

Only functions that return at their end are inlined, and only where the call is a whole statement or
the whole value of an assignment::

    v = sum_of_warp(v);     {float value = v; for (…) value += __shfl_…(value, d); v = value;}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pycu2c.compat.cuda_text.fission.barriers import SYNC_FUNCTIONS, has_synchronization
from pycu2c.compat.cuda_text.fission.variable_uniformity import ASSIGNMENT_OPERATORS, UNIFORM_NAMES
from pycu2c.compat.cuda_text.parse import statements
from pycu2c.compat.cuda_text.parse.declarations import (
    declarators_of,
    is_block_level,
    split_at_commas,
)
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.macros import KEYWORDS, Macros
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, merge_operators
from pycu2c.compat.cuda_text.source_text import CudaSource

_MAX_INLINE_PASSES = 8  # each inlines the calls in functions that the previous one inlined
_STATEMENT_STARTS = (";", "{", "}", ")", "else", "do")


class _Call(NamedTuple):
    """A statement ``target name(arguments);``."""

    target: tuple[Token, ...]
    first: Token
    last: Token
    arguments: list[list[Token]]


def inline_synchronizing_functions(text: CudaSource, macros: Macros) -> CudaSource:
    """Return the text with calls of functions that contain barriers inlined into kernels."""
    for pass_number in range(_MAX_INLINE_PASSES):
        edits = [
            edit
            for f in text.functions
            if f.is_kernel
            for edit in _edits(text, f, macros, pass_number)
        ]
        if not edits:
            break
        code, offset = [], 0
        for start, end, replacement in sorted(edits):
            code += [text.code[offset:start], replacement, "\n" * text.code.count("\n", start, end)]
            offset = end
        text = CudaSource("".join((*code, text.code[offset:])), text.name)
    return text


def _edits(
    text: CudaSource, kernel: FunctionDefinition, macros: Macros, pass_number: int
) -> Iterator[tuple[int, int, str]]:
    tokens = merge_operators(text.tokens[kernel.body[0] : kernel.body[1]])
    names = [t.text for t in tokens]
    for function in _synchronizing_functions(text):
        indices = [i for i, name in enumerate(names) if name == function.name]
        body = _body_tokens(text, function)
        if len(indices) > 1 and any(t.text == "__shared__" for t in body):
            continue  # a shared variable must not be duplicated
        for index in indices:
            try:
                call = _call(tokens, index)
                prefix = f"pycu2c_{pass_number}_{index}_"
                replacement = _inline_call(text, kernel, function, call, prefix, macros)
            except statements.Unanalyzable:
                continue
            yield call.first.start, call.last.end, replacement


def _synchronizing_functions(text: CudaSource) -> Iterator[FunctionDefinition]:
    for function in text.functions:
        is_inlinable = not (function.is_kernel or function.is_template or function.scopes)
        is_unique = sum(f.name == function.name for f in text.functions) == 1
        if is_inlinable and is_unique and _synchronizes(text, function, frozenset()):
            yield function


def _synchronizes(text: CudaSource, function: FunctionDefinition, callers: frozenset[str]) -> bool:
    body = _body_tokens(text, function)
    words = {t.text for t in body}
    callees = [f for f in text.functions if f.name in words - callers - {function.name}]
    return has_synchronization(body) or any(
        _synchronizes(text, f, callers | {function.name}) for f in callees
    )


def _body_tokens(text: CudaSource, function: FunctionDefinition) -> list[Token]:
    return merge_operators(text.tokens[function.body[0] + 1 : function.body[1]])


def _call(tokens: Sequence[Token], index: int) -> _Call:
    """Return the call at an index.

    Raises Unanalyzable unless the call is a statement with a simple target.
    """
    if index + 1 >= len(tokens) or tokens[index + 1].text != "(":
        raise statements.Unanalyzable
    end = closing(tokens, index + 1)
    if end + 1 >= len(tokens) or tokens[end + 1].text != ";":
        raise statements.Unanalyzable
    start = index
    while start and _may_precede_call(tokens[start - 1]):
        start -= 1
    if not start or tokens[start - 1].text not in _STATEMENT_STARTS:
        raise statements.Unanalyzable
    target = tuple(tokens[start:index])
    if target and target[-1].text not in ASSIGNMENT_OPERATORS:
        raise statements.Unanalyzable
    return _Call(target, tokens[start], tokens[end + 1], split_at_commas(tokens[index + 2 : end]))


def _may_precede_call(token: Token) -> bool:
    if token.kind == "identifier":
        return token.text not in (*_STATEMENT_STARTS, "return", "const", "auto", "static")
    return token.text in ASSIGNMENT_OPERATORS


def _inline_call(
    text: CudaSource,
    kernel: FunctionDefinition,
    function: FunctionDefinition,
    call: _Call,
    prefix: str,
    macros: Macros,
) -> str:
    """Return the statements that replace a call, with renamed local variables."""
    arguments = [argument for argument in call.arguments if argument]
    if len(arguments) != len(function.parameters):
        raise statements.Unanalyzable
    body = _body_tokens(text, function)
    names = {parameter.name for parameter in function.parameters} | set(
        _declared_names(statements.statements(body))
    )
    kernel_names = {t.text for t in text.tokens[kernel.start : kernel.body[1]]} - _reserved_names(
        text, macros
    )
    for token in macros.expanded_names(body):
        is_in_macro = token not in body
        if token.text in (names if is_in_macro else kernel_names - names):
            raise statements.Unanalyzable  # renaming would capture a variable
    lines = []
    for parameter, argument in zip(function.parameters, arguments):
        type_text, name, suffix = parameter.text.rpartition(parameter.name)
        if not name or suffix or "&" in type_text:
            raise statements.Unanalyzable
        lines.append(f"{type_text}{prefix}{name} = {' '.join(t.text for t in argument)};")
    return_index, has_value = _return_position(body)
    lines.append(_rename_locals(body[:return_index], names, prefix))
    value = _rename_locals(body[return_index + 1 : -1], names, prefix) if has_value else ""
    if value and call.target:
        value = f"static_cast<{_result_type(text, function)}>({value})"
    declaration = ""
    if len(call.target) > 2:
        declaration = " ".join(t.text for t in call.target[:-1]) + "; "
        lines.append(f"{call.target[-2].text} = {value};")
    elif value:
        lines.append(f"{' '.join(t.text for t in call.target)} {value};")
    return f"{declaration}{{ {' '.join(lines)} }}"


_FUNCTION_SPECIFIERS = frozenset(
    ("__device__", "__host__", "static", "inline", "__forceinline__", "__noinline__", "__inline__")
)


def _result_type(text: CudaSource, function: FunctionDefinition) -> str:
    """Return the declared result type, for conversion of the value. Raises Unanalyzable."""
    words = [t.text for t in text.tokens[function.start : function.body[0]]]
    type_words = [
        w for w in words[: words.index(function.name)] if w not in _FUNCTION_SPECIFIERS | {"const"}
    ]
    if "(" in type_words or "auto" in type_words or "&" in type_words:
        raise statements.Unanalyzable
    return " ".join(type_words)


def _reserved_names(text: CudaSource, macros: Macros) -> frozenset[str]:
    """Return the names that never denote local variables of a kernel."""
    functions = {function.name for function in text.functions}
    return frozenset(
        {*functions, *macros.constants, *macros.names, "threadIdx", "static", "__shared__"}
        | UNIFORM_NAMES
        | SYNC_FUNCTIONS
        | KEYWORDS
    )


def _declared_names(body: Sequence[statements.Statement]) -> Iterator[str]:
    """Yield the names that statements declare. Raises Unanalyzable."""
    for statement in body:
        match statement:
            case statements.SimpleStatement(tokens) if tokens[0].kind != "directive":
                yield from _names_declared_by(tokens)
            case statements.LoopStatement(_, first):
                yield from (declarator.name.text for declarator in declarators_of(first))
        yield from _declared_names(statements.nested_statements(statement))


def _names_declared_by(tokens: Sequence[Token]) -> Iterator[str]:
    texts = [t.text for t in tokens]
    if "__shared__" in texts:
        if "," in texts:
            raise statements.Unanalyzable
        yield texts[texts.index("[" if "[" in texts else ";") - 1]
    elif (is_block_level(tokens) and texts[0] != "constexpr") or texts[0] in ("switch", "for"):
        raise statements.Unanalyzable
    else:
        yield from (declarator.name.text for declarator in declarators_of(tokens))


def _return_position(body: Sequence[Token]) -> tuple[int, bool]:
    """Return the index of the last statement if it is the only ``return``, else the end.

    The second result is whether there is a ``return``. Raises Unanalyzable for other returns.
    """
    returns = [i for i, t in enumerate(body) if t.text == "return"]
    if not returns:
        return len(body), False
    last = statements.statements(body)[-1]
    if len(returns) > 1 or last.tokens[0] != body[returns[0]] or len(last.tokens) < 3:
        raise statements.Unanalyzable
    return returns[0], True


def _rename_locals(tokens: Sequence[Token], names: set[str], prefix: str) -> str:
    parts, previous = [], ""
    for token in tokens:
        if token.kind == "directive":  # a pragma
            continue
        is_local = (
            token.kind == "identifier" and token.text in names and previous not in (".", "->", "::")
        )
        is_static = token.text == "static"  # __shared__ is defined as static
        parts.append("" if is_static else prefix + token.text if is_local else token.text)
        previous = token.text
    return " ".join(parts)

"""Where code came from: spans, and the FunctionDef of a Python function in its whole file.

The whole file is parsed, never a dedented piece of it, so lines and columns are the user's.
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

from pycu2c.base.external_code import ExternalCode
from pycu2c.base.records import dataclass
from pycu2c.base.spans import Span as Span
from pycu2c.base.types import Signature


class SourceUnavailable(Exception):
    """Python kept no text for a function; the message says why and what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A Python function with its syntax tree and the lines of the file that holds it. An
    ``async def`` has the tree of a plain function, so that one error can say what it is.
    ``captured`` are the parameters of a local function that it has from around it;
    ``signature`` is the one that a device function was decorated with, ``external_code`` the C that it
    is instead of its Python."""

    python: FunctionType
    tree: ast.FunctionDef
    file: str
    lines: tuple[str, ...]
    is_async: bool = False
    captured: frozenset[str] = frozenset()
    signature: Signature | None = None
    external_code: ExternalCode | None = None

    @property
    def name(self) -> str:
        return self.tree.name

    def span(self, node: ast.AST) -> Span:
        """The place of a syntax node; nodes without one are placed at the function's head."""
        here = node if hasattr(node, "lineno") else self.tree
        line, column = getattr(here, "lineno", 1), getattr(here, "col_offset", 0)
        end_line = getattr(here, "end_lineno", None) or line
        end_column = getattr(here, "end_col_offset", None) or column + 1
        return Span(
            self.file,
            line,
            self._characters(line, column),
            end_line,
            self._characters(end_line, end_column),
        )

    def _characters(self, line: int, utf8_offset: int) -> int:
        """ast counts columns in UTF-8 bytes; people count characters."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:utf8_offset].decode(errors="ignore"))


def source_of(function: FunctionType) -> Source:
    """Find ``function`` in its file.

    Raises NoSource where Python kept no text (``python -c``, ``exec``) or the file has changed.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if code.co_name == "<lambda>":
        return _source_of_lambda(function, tuple(lines))
    for node in _functions("".join(lines), code.co_filename):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if node.name == code.co_name and first <= code.co_firstlineno <= node.lineno:
            is_async = isinstance(node, ast.AsyncFunctionDef)
            return Source(function, _without_async(node), code.co_filename, tuple(lines), is_async)
    if not lines or code.co_filename == "<string>":  # of exec; Python may keep that of another
        raise SourceUnavailable(
            f"the source of {function.__name__} is not available ({code.co_filename}): "
            "a kernel is translated from its text, so define it in a file, a notebook cell, "
            "or a REPL that keeps source (Python 3.13 or later, IPython)"
        )
    raise SourceUnavailable(
        f"{function.__name__} is no longer at {code.co_filename}:{code.co_firstlineno}: "
        "the file changed after it was imported; import it again"
    )


LAMBDA_NAME = "lambda_"  # the name of a lambda's function


def _source_of_lambda(function: FunctionType, lines: tuple[str, ...]) -> Source:
    """Find a lambda by its line; of several there, by what Python made of each."""
    code = function.__code__
    found = [
        node
        for node in _lambdas("".join(lines), code.co_filename)
        if node.lineno == code.co_firstlineno
    ]
    if len(found) > 1:
        found = [
            node for node in found if _code_fingerprint(_compiled(node)) == _code_fingerprint(code)
        ]
    if len({ast.dump(node) for node in found}) != 1:  # of those that read alike, any will do
        raise SourceUnavailable("this lambda is not found in its file: write it as `def f(…): …`")
    node = found[0]
    body = ast.copy_location(ast.Return(node.body), node.body)
    tree = ast.FunctionDef(name=LAMBDA_NAME, args=node.args, body=[body], decorator_list=[])
    return Source(function, ast.copy_location(tree, node), code.co_filename, lines)


def _compiled(node: ast.Lambda) -> CodeType:
    """A lambda's code, as if nothing was around it."""
    whole = compile(ast.Expression(node), "", "eval")
    *_, code = (c for c in whole.co_consts if isinstance(c, CodeType))  # those of defaults go first
    return code


def _code_fingerprint(code: CodeType) -> tuple[set[tuple[int | None, ...]], list[str]]:
    """What tells a lambda from others on its line, wherever its names are bound: the places of its
    instructions, and its constants, which Python 3.12 returns without a place."""
    constants = [type(c).__name__ if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return {place for place in code.co_positions() if place[3]}, constants


def is_stub(tree: ast.FunctionDef) -> bool:
    """Whether a body says nothing: docstring, ``...``, ``pass``, ``raise NotImplementedError``."""
    return all(map(_is_placeholder, tree.body))


def _is_placeholder(s: ast.stmt) -> bool:
    match s:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
        case _:
            return False


class Unbound:
    """What a name is that no object is bound to."""


def bound_object(function: FunctionType, name: str) -> object:
    """The object that a free name of a function is bound to now."""
    code = function.__code__
    if name in code.co_freevars and function.__closure__:
        cell = function.__closure__[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:  # the enclosing function has not assigned it yet
            return Unbound()
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, Unbound())


def _without_async(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef:
    if isinstance(node, ast.FunctionDef):
        return node
    fields = {name: getattr(node, name) for name in node._fields}
    return ast.copy_location(ast.FunctionDef(**fields), node)


@lru_cache(maxsize=32)
def _lambdas(text: str, file: str) -> tuple[ast.Lambda, ...]:
    try:
        tree = ast.parse(text, filename=file)
    except SyntaxError:  # the file was edited since Python compiled it
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


@lru_cache(maxsize=32)
def _functions(text: str, file: str) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    try:
        tree = ast.parse(text, filename=file)
    except SyntaxError:  # the file was edited since Python compiled it
        return ()
    return tuple(_functions_in(tree))


def _functions_in(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Those defined in it and in them; expressions, which are most of a file, define none."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        for block in _BLOCKS:
            waiting += getattr(node, block, ())


_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")  # what holds statements

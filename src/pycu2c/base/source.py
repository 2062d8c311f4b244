"""Source code of Python functions: the tree of a function in its whole file, and spans.

The whole file is parsed, not a dedented part, so lines and columns are those of the user's file.
"""

from __future__ import annotations

import ast
import builtins
import copy
import io
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, TypeVar

from pycu2c.base.external_code import ExternalCode
from pycu2c.base.lazy_imports import IMPORT_TIME
from pycu2c.base.records import dataclass
from pycu2c.base.spans import Span as Span
from pycu2c.base.types import Signature


class SourceUnavailable(Exception):
    """Python has no source text of a function; the message says why and what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A Python function with its syntax tree and the lines of its file.

    The tree of an ``async def`` is that of a plain function, so that the front end
    reports one error.
    ``captured`` are the parameters of a local function that stand for variables of the enclosing
    function. ``signature`` is the declared signature of a device function. ``external_code`` is the
    C code that replaces its body. ``is_numba`` is whether ``numba.njit`` decorates it.
    """

    python: FunctionType
    tree: ast.FunctionDef
    file: str
    lines: tuple[str, ...]
    is_async: bool = False
    captured: frozenset[str] = frozenset()
    signature: Signature | None = None
    external_code: ExternalCode | None = None
    is_numba: bool = False

    @property
    def name(self) -> str:
        return self.tree.name

    def span(self, node: ast.AST) -> Span:
        """Return the span of a syntax node; nodes without a position get the function's head."""
        located = node if hasattr(node, "lineno") else self.tree
        line, column = getattr(located, "lineno", 1), getattr(located, "col_offset", 0)
        end_line = getattr(located, "end_lineno", None) or line
        end_column = getattr(located, "end_col_offset", None) or column + 1
        return Span(
            self.file,
            line,
            self._characters(line, column),
            end_line,
            self._characters(end_line, end_column),
        )

    def _characters(self, line: int, utf8_offset: int) -> int:
        """Convert a column of ``ast``, which counts UTF-8 bytes, to characters."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return min(utf8_offset, len(text))
        return len(text.encode()[:utf8_offset].decode(errors="ignore"))


ATTACHED_SOURCE = "__pycu2c_source__"  # attribute of functions that another process has pickled


def source_of(function: FunctionType) -> Source:
    """Find the source of ``function`` in its file.

    Raises SourceUnavailable if Python has no text (``python -c``, ``exec``) or the file has
    changed.
    """
    attached: Source | None = vars(function).get(ATTACHED_SOURCE)
    if attached is not None:
        return attached
    code = function.__code__
    lines = _lines_of(function)
    if code.co_name == "<lambda>":
        return _source_of_lambda(function, tuple(lines))
    for node in _functions("".join(lines), code.co_filename):
        first_line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if node.name == code.co_name and first_line <= code.co_firstlineno <= node.lineno:
            is_async = isinstance(node, ast.AsyncFunctionDef)
            return Source(function, _without_async(node), code.co_filename, tuple(lines), is_async)
    unread = not (lines or _TEXTS.get(code.co_filename))
    if unread or code.co_filename == "<string>":  # of exec; linecache may have another text
        raise SourceUnavailable(
            f"the source of {function.__name__} is not available ({code.co_filename}): define it "
            "in a file, a notebook cell, "
            "or a REPL that keeps source (Python 3.13 or later, IPython)"
        )
    raise SourceUnavailable(
        f"{function.__name__} is no longer at {code.co_filename}:{code.co_firstlineno}: "
        "the file changed after it was imported; import it again"
    )


def own_lines(source: Source) -> tuple[int, tuple[str, ...]]:
    """Return the number of the first line of a function with its decorators, and its lines."""
    tree = source.tree
    first = min([tree.lineno, *(d.lineno for d in tree.decorator_list)])
    return first, source.lines[first - 1 : tree.end_lineno]


def parse_function(text: str, first: int) -> ast.FunctionDef | None:
    """Parse the lines of one function, which begin at line ``first``; None for other text."""
    indent = "if 1:\n" if text[:1].isspace() else ""
    try:
        body: list[ast.stmt] = ast.parse(indent + text).body
    except SyntaxError:
        return None
    match body[0].body if isinstance(body[0], ast.If) else body:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as node]:
            ast.increment_lineno(node, first - (2 if indent else 1))
            return _without_async(node)
        case _:
            return None


# texts of files that changed while the program ran, the last one at the end
_TEXTS: dict[str, list[list[str]]] = {}


def _lines_of(function: FunctionType) -> list[str]:
    """Return the lines that a function was compiled from, or an empty list.

    ``linecache`` keeps the first text that it reads. A module that was edited and reloaded has
    functions of both texts; the compiled code tells which text a function is from.
    """
    code = function.__code__
    file = code.co_filename
    cached = linecache.getlines(file, function.__globals__)
    linecache.checkcache(file)
    current = linecache.getlines(file, function.__globals__)
    if file in _SHARED_NAMES:
        outside = (list(io.StringIO(text)) for text in _texts_outside_of_files())
        for lines in (current, *outside):
            text = "".join(lines)
            if _is_code_of(code, text, file):
                linecache.cache[file] = len(text), None, lines, file  # error messages show lines
                return lines
        return []
    if cached is current and not _is_newer_than_program(file):
        return current
    texts = _TEXTS.setdefault(file, [])
    texts += [lines for lines in (cached, current) if lines and lines not in texts]
    for is_of_text in (_is_code_of, _resembles_code_of):
        for lines in reversed(texts):
            if is_of_text(code, "".join(lines), file):
                return lines
    return []


# names of ``python -c`` programs, and of cells with %%time or %%prun; code of ``exec`` shares them
_SHARED_NAMES = ("<string>", "<timed exec>")


def _texts_outside_of_files() -> Iterator[str]:
    """Yield the text of a ``python -c`` program, and of IPython's current cell without its magics.

    The caller compares the compiled code.
    """
    if "-c" in sys.orig_argv[:-1]:
        yield sys.orig_argv[sys.orig_argv.index("-c") + 1]
    ipython: Any = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell:
        text = str(shell.history_manager.input_hist_raw[-1]).lstrip()
        while text.startswith("%%"):
            text = text.partition("\n")[2]
        yield shell.transform_cell(text)


def _is_newer_than_program(file: str) -> bool:
    entry = linecache.cache.get(file)
    modified = entry[1] if entry and len(entry) > 1 else None  # None for notebook cells
    return modified is not None and modified > IMPORT_TIME


def _is_code_of(code: CodeType, text: str, file: str) -> bool:
    return code in _codes(text, file)


def _resembles_code_of(code: CodeType, text: str, file: str) -> bool:
    """Compare names and constants alone: a tool may have compiled a part of the file."""
    return any(
        other.co_name == code.co_name and _names_and_constants(other) == _names_and_constants(code)
        for other in _codes(text, file)
    )


def _names_and_constants(code: CodeType) -> tuple[object, ...]:
    names = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    constants = [
        _names_and_constants(c) if isinstance(c, CodeType) else (type(c), repr(c))
        for c in code.co_consts
    ]
    return code.co_firstlineno, names, constants


@lru_cache(maxsize=8)
def _codes(text: str, file: str) -> frozenset[CodeType]:
    """Return the code of all functions in a text."""
    try:
        pending = [compile(text, file, "exec", dont_inherit=True)]
    except SyntaxError:  # it is being edited
        return frozenset()
    found = set()
    while pending:
        code = pending.pop()
        found.add(code)
        pending += [c for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(found)


LAMBDA_NAME = "lambda_"  # the name of a lambda's tree


def _source_of_lambda(function: FunctionType, lines: tuple[str, ...]) -> Source:
    """Find a lambda by its line; compare the compiled code if there are more on that line."""
    code = function.__code__
    candidates = [
        node
        for node in _lambdas("".join(lines), code.co_filename)
        if node.lineno == code.co_firstlineno
    ]
    if len(candidates) > 1:
        candidates = [
            node
            for node in candidates
            if _code_fingerprint(_compiled(node)) == _code_fingerprint(code)
        ]
    if len({ast.dump(node) for node in candidates}) != 1:  # identical lambdas are interchangeable
        raise SourceUnavailable("this lambda is not found in its file: write it as `def f(…): …`")
    node = candidates[0]
    body = ast.copy_location(ast.Return(node.body), node.body)
    tree = ast.FunctionDef(name=LAMBDA_NAME, args=node.args, body=[body], decorator_list=[])
    return Source(function, ast.copy_location(tree, node), code.co_filename, lines)


def _compiled(node: ast.Lambda) -> CodeType:
    """Return the code of a lambda compiled alone."""
    module = compile(ast.Expression(node), "", "eval")
    # lambdas in defaults precede it
    *_, code = (c for c in module.co_consts if isinstance(c, CodeType))
    return code


def _code_fingerprint(code: CodeType) -> tuple[set[tuple[int | None, ...]], list[str]]:
    """Return the instruction positions and constants that distinguish lambdas on one line.

    Python 3.12 returns constants without a position, so both are needed.
    """
    constants = [type(c).__name__ if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return {position for position in code.co_positions() if position[3]}, constants


def is_stub(tree: ast.FunctionDef) -> bool:
    """Return whether a body has only a docstring, ``...``, ``pass`` or ``NotImplementedError``."""
    return all(map(_is_placeholder, tree.body))


def _is_placeholder(s: ast.stmt) -> bool:
    match s:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
        case _:
            return False


_Node = TypeVar("_Node", bound=ast.AST)


def copy_tree(node: _Node) -> _Node:
    """Return a deep copy of a syntax tree: of its fields, not of other attributes.

    Python has one object for all ``ast.Load()`` of a process, and one for each operator. Packages
    that format tracebacks set attributes of these objects that refer to other trees, such as
    ``parent``; ``copy.deepcopy`` would copy those trees too.
    """
    copied = copy.copy(node)
    for name, value in ast.iter_fields(node):
        setattr(copied, name, _copy_field(value))
    return copied


def _copy_field(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy_field(item) for item in value]
    return copy_tree(value) if isinstance(value, ast.AST) else value


class Unbound:
    """The result for a name that is bound to no object."""


def bound_object(function: FunctionType, name: str) -> object:
    """Return the object that a free name of a function is bound to now."""
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
    """Yield the functions defined in a tree; expressions are skipped, because they define none."""
    return (
        n for n in statements_in(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def statements_in(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree, the statements inside it and their clauses, without the expressions."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending += nested_statements(node)


def nested_statements(node: ast.AST) -> list[ast.AST]:
    """Return the statements directly inside a statement, and its clauses."""
    return [inner for block in _BLOCKS for inner in getattr(node, block, ())]


_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")  # fields with statements

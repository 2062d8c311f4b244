"""Syntax that kernels do not support: what is wrong, and the hint."""

from __future__ import annotations

import ast
import sys
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span


@dataclass(frozen=True, slots=True)
class UnsupportedSyntax:
    """A diagnostic for a kind of syntax.

    With a ``keyword``, the error marks only this first word of the statement.
    """

    code: str
    text: str
    hint: str
    keyword: str = ""

    def report(self, span: Span) -> NoReturn:
        """Raise the CompileError for a use at ``span``."""
        fail(self.code, Label(span, self.text), hint=self.hint)


_TRY = UnsupportedSyntax(
    "exceptions", "GPU code cannot catch exceptions", "test the condition with `if`", "try"
)
_ASYNC_TEXT = "GPU code cannot wait for other tasks"
_ASYNC_HINT = "write it without `async`"
_IMPORT = UnsupportedSyntax("import", "an import inside a kernel", "move it to the top of the file")

STATEMENTS: dict[type[ast.stmt], UnsupportedSyntax] = {
    ast.Try: _TRY,
    ast.TryStar: _TRY,
    ast.With: UnsupportedSyntax(
        "context-manager",
        "a kernel has no context managers",
        "use it around the launch, or write only the statements of its body",
        "with",
    ),
    ast.AsyncWith: UnsupportedSyntax("async", _ASYNC_TEXT, _ASYNC_HINT, "async with"),
    ast.AsyncFor: UnsupportedSyntax("async", _ASYNC_TEXT, _ASYNC_HINT, "async for"),
    ast.AsyncFunctionDef: UnsupportedSyntax("async", _ASYNC_TEXT, _ASYNC_HINT, "async def"),
    ast.ClassDef: UnsupportedSyntax(
        "class",
        "a class inside a kernel",
        "keep the fields in variables or in a tuple; elements of arrays can be NumPy records",
        "class",
    ),
    ast.Import: _IMPORT,
    ast.ImportFrom: _IMPORT,
    ast.Global: UnsupportedSyntax(
        "global-statement",
        "a kernel cannot assign to Python's globals",
        "pass an array of one element and write `counter[0] = …`; reading needs no `global`",
    ),
    ast.Nonlocal: UnsupportedSyntax(
        "global-statement",
        "a function cannot assign to variables of the enclosing function",
        "return the new value, or pass an array of one element and write `counter[0] = …`",
    ),
}

TYPE_ALIAS = UnsupportedSyntax(
    "class", "a type is named inside a kernel", "move it to the top of the file", "type"
)
if sys.version_info >= (3, 12):
    STATEMENTS[ast.TypeAlias] = TYPE_ALIAS

EXPRESSIONS: dict[type[ast.expr], UnsupportedSyntax] = {
    ast.Set: UnsupportedSyntax(
        "dict-set",
        "GPU code has no sets",
        "write a tuple for `in`; mark members in an array that is indexed by integers",
    ),
    ast.Dict: UnsupportedSyntax(
        "dict-set",
        "GPU code has no dicts",
        "use one variable for each key, or an array that is indexed by integers",
    ),
    ast.SetComp: UnsupportedSyntax(
        "comprehension",
        "GPU code has no sets",
        "write a tuple, `tuple(f(x) for x in t)`, or mark members in an array",
    ),
    ast.DictComp: UnsupportedSyntax(
        "comprehension",
        "GPU code has no dicts",
        "write a list of the values, `[f(x) for x in t]`, and index it",
    ),
    ast.GeneratorExp: UnsupportedSyntax(
        "generator",
        "this is a generator expression",
        "write a list, `[f(x) for x in t]`; only a call such as sum(...) accepts a generator",
    ),
    ast.Yield: UnsupportedSyntax(
        "generator", "GPU code has no generators", "store each value in an array, `out[i] = …`"
    ),
    ast.YieldFrom: UnsupportedSyntax(
        "generator", "GPU code has no generators", "store each value in an array, `out[i] = …`"
    ),
    ast.Await: UnsupportedSyntax("async", _ASYNC_TEXT, "call the function without `await`"),
    ast.JoinedStr: UnsupportedSyntax(
        "string",
        "this makes a string when the kernel runs",
        "pass f-strings to print, print(f'…'); create other text after the launch",
    ),
    ast.Starred: UnsupportedSyntax("starred", "this unpacks a tuple", "write the items one by one"),
}

UNSUPPORTED = UnsupportedSyntax(
    "subset",
    "this part of Python cannot be compiled",
    "write it with assignments, `if`, `while`, `for` and functions",
)
RERAISE = UnsupportedSyntax(
    "exceptions", "there is no exception to raise again", "raise one: ValueError()"
)
IDENTITY = UnsupportedSyntax(
    "comparison",
    "`is` compares with None, True, False and members of enumerations",
    "compare values with `==` or `!=`",
)
STRING = UnsupportedSyntax(
    "string",
    "this makes a string when the kernel runs",
    "strings are constants: compare them with `==`; to print text, write print(f'…')",
)
BYTES = UnsupportedSyntax(
    "string", "GPU code has no bytes", "write a tuple of ints, or pass an array"
)
INTEGER_TOO_WIDE = UnsupportedSyntax(
    "constant-range",
    "no integer type holds this number",
    "int64 holds -2**63 to 2**63 - 1, uint64 up to 2**64 - 1; write a float, such as 1e20",
)
CALLEE = UnsupportedSyntax(
    "call", "this is not a function", "call a function by its name: `f(x)`, `math.f(x)`"
)
LAUNCH = UnsupportedSyntax(
    "call", "a kernel cannot launch a kernel", "call a @device function; launch kernels from Python"
)
UNPACKED_KEYWORDS = UnsupportedSyntax(
    "starred", "this unpacks keyword arguments", "write the arguments one by one"
)
MATMUL = UnsupportedSyntax(
    "matmul", "this is `@`", "write the loops, `total += a[i, k] * b[k, j]`, or do it on the host"
)
NEW_AXIS = UnsupportedSyntax(
    "slice", "this would add an axis", "write one index or slice for each axis"
)
ANNOTATED_TARGET = UnsupportedSyntax(
    "assignment-target",
    "an annotation declares the type of a name",
    "remove the annotation: the array determines the type of its elements",
)
LOOP_TARGET = UnsupportedSyntax(
    "assignment-target",
    "a loop target must be a name",
    "write a name or a tuple of names, `for i in …:`, and assign to the element in the body",
)
DELETED_TARGET = UnsupportedSyntax(
    "delete", "only names are deleted", "remove the line; to clear an element, assign 0"
)
KEYWORD_PARAMETERS = UnsupportedSyntax(
    "parameter-kind",
    "this takes any number of keywords",
    "name each parameter; `*values` takes any number by position",
)
DECORATED = UnsupportedSyntax(
    "nested-function",
    "a function inside a kernel has no decorators",
    "remove the decorator: a nested function needs no @device",
)
CLASS_PATTERN = UnsupportedSyntax(
    "match", "this is a class pattern", "compare a field in the guard: `case _ if p.x == …:`"
)
MAPPING_PATTERN = UnsupportedSyntax(
    "match", "this is a mapping pattern", "a subject is a number, a string or a tuple"
)
KERNEL_RESULT = UnsupportedSyntax(
    "return-type",
    "a kernel returns its results in arrays",
    "pass an array for the result and write out[i] = …",
)
UNUSED = UnsupportedSyntax(
    "unused-value", "this value is not used", "assign it, `x = …`, or remove the line"
)

if sys.version_info >= (3, 14):
    EXPRESSIONS[ast.TemplateStr] = EXPRESSIONS[ast.JoinedStr]

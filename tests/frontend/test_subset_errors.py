"""Errors of the subset check, at their locations: the files under ``tests/data/errors/subset``."""

from __future__ import annotations

import ast
import sys
import tokenize
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.base.diagnostics import CompileError, Diagnostic, Label, error_codes, render
from pycu2c.base.source import Source, Span
from pycu2c.declarations.signatures import SignatureError
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.subset_check import check_subset
from pycu2c.frontend.subset.unsupported_syntax import UnsupportedSyntax
from support.error_expectations import as_expectations, diagnostics_of, expectations
from support.paths import DATA

FILES = sorted((DATA / "errors" / "subset").glob("*.py"))
TYPED = sorted((DATA / "errors" / "typed").glob("*.py"))


def rejected() -> list[Diagnostic]:
    return [d for path in FILES for d in diagnostics_of(path, check_subset)]


def rows() -> list[UnsupportedSyntax]:
    tables = (unsupported_syntax.STATEMENTS, unsupported_syntax.EXPRESSIONS)
    alone = [
        value for value in vars(unsupported_syntax).values() if isinstance(value, UnsupportedSyntax)
    ]
    return [row for table in tables for row in table.values()] + alone


@pytest.mark.parametrize("path", FILES + TYPED, ids=lambda path: path.stem)
def test_errors(path: Path) -> None:
    result = as_expectations(path, diagnostics_of(path, check_subset))
    expected = expectations(path)
    assert sorted(result - expected) == []
    assert sorted(expected - result) == []


def test_comments_are_all_read() -> None:
    """A comment with a slip in it would expect nothing."""
    for path in FILES + TYPED:
        with path.open("rb") as text:
            comments = [t for t in tokenize.tokenize(text.readline) if "E[" in t.string]
        expected = sum(t.string.count("E[") for t in comments if t.type == tokenize.COMMENT)
        assert len(expectations(path)) == expected, path
        assert {e.code for e in expectations(path)} <= set(error_codes())


def test_every_rejection_has_a_case() -> None:
    seen = {(d.code, d.labels[0].text, d.hint) for d in [*rejected(), *rejected_trees()]}
    newer = set() if sys.version_info >= (3, 12) else {unsupported_syntax.TYPE_ALIAS}
    expected = {(row.code, row.text, row.hint) for row in set(rows()) - newer}
    assert expected - seen == set()


def test_every_rejection_helps() -> None:
    for diagnostic in rejected():
        assert diagnostic.hint
        assert diagnostic.labels[0].text


ACCEPTED = {
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.While, ast.For, ast.Match, ast.Return),
    *(ast.Raise, ast.Assert, ast.Delete, ast.FunctionDef, ast.Expr, ast.Break, ast.Continue),
    *(ast.Pass, ast.Name, ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.IfExp),
    *(ast.Compare, ast.Call, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.NamedExpr),
    *(ast.Lambda, ast.ListComp),
}
PARTS = {"Slice", "FormattedValue", "Interpolation"}  # stand inside of others only


@pytest.mark.parametrize("kind", [*ast.stmt.__subclasses__(), *ast.expr.__subclasses__()])
def test_every_python_node_is_supported_or_rejected(kind: type[ast.stmt] | type[ast.expr]) -> None:
    if kind.__module__ == "ast" and kind.__name__ not in PARTS:
        rejected = {**unsupported_syntax.STATEMENTS, **unsupported_syntax.EXPRESSIONS}
        assert (kind in ACCEPTED) != (kind in rejected)


TREES = {  # what no function at the top of a file can have
    "return [*(yield)]": "generator",
    "y = x[*x]": "starred",
}
if sys.version_info >= (3, 12):
    TREES["type x = int"] = "class"


def rejected_trees() -> list[Diagnostic]:
    return [d for text in TREES for d in check_subset(tree_of(text))]


def tree_of(text: str) -> Source:
    (tree,) = ast.parse(f"def f(x):\n    {text}").body
    assert isinstance(tree, ast.FunctionDef)
    return Source(check_of_nothing, tree, "f.py", ("def f(x):", f"    {text}"))


@pytest.mark.parametrize("text", TREES)
def test_the_rest_of_python_is_rejected(text: str) -> None:
    """Whatever ``ast`` has beyond the subset, now or later, is reported once."""
    assert [d.code for d in check_subset(tree_of(text))] == [TREES[text]]


def check_of_nothing() -> None:
    """Stands for the Python function of a tree that Python would not compile."""


def test_violations_are_in_source_order() -> None:
    for path in FILES:
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                lines = tuple(path.read_text(encoding="utf-8").splitlines())
                result = check_subset(Source(check_of_nothing, function, str(path), lines))
                places = [(d.labels[0].span.line, d.labels[0].span.column) for d in result]
                assert places == sorted(places)


def test_a_rendered_breach(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("def f(a):\n    x = {1, 2}\n")
    (result,) = diagnostics_of(path, check_subset)
    assert render(result) == (
        "error[dict-set]: a kernel keeps data in variables and arrays\n"
        f"  --> {path}:2:9\n"
        "  2 |     x = {1, 2}\n"
        "    |         ^^^^^^ GPU code has no sets\n"
        "    = help: write a tuple for `in`; mark members in an array that is indexed by integers"
    )


def test_carets_under_wide_letters(tmp_path: Path) -> None:
    """In a terminal a Chinese letter is as wide as two others."""
    path = tmp_path / "bad.py"
    path.write_text("def f(a):\n\t数, é = {'数'}, {'e\u0301'}\n", encoding="utf-8")
    first, second = diagnostics_of(path, check_subset)
    assert render(first).splitlines()[3] == "    | \t        ^^^^^^ GPU code has no sets"
    assert render(second).splitlines()[3] == "    | \t                ^^^^^ GPU code has no sets"


# ---- the runner itself: decorators report with a CompileError --------------------------------

DECORATED = """
from runner_case import refusing

def plain(x):
    return x

@refusing
def first(x):
    return plain(x)

@refusing
def second(x):
    return x
"""


def test_each_decorated_function_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runner_case.py").write_text(
        "def refusing(function):\n    raise function.__globals__['report'](function)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "case.py"
    path.write_text(DECORATED.replace("def plain", f"from {__name__} import report\n\ndef plain"))
    lines = [d.labels[0].span.line for d in diagnostics_of(path, check_subset)]
    assert lines == [10, 14]


def report(function: object) -> CompileError:
    line = getattr(function, "__code__").co_firstlineno + 1  # noqa: B009
    return CompileError([Diagnostic("name", (Label(Span("case.py", line, 0, line, 1)),))])


# ---- results of kernels, which are found when the kernel is defined ------------------------------


def test_a_kernel_that_returns_a_value() -> None:
    with pytest.raises(CompileError, match="a kernel returns its results in arrays") as caught:

        @kernel
        def k(a):
            if a[0] > 1:
                return None
            return a[0] + 1

    assert caught.value.code == "return-type"


def test_functions_in_a_kernel_return_values(target: str) -> None:
    @kernel(backend=target)
    def k(a):
        def twice(x):
            return x * 2

        a[0] = twice(a[0])
        return

    a = np.ones(1)
    k[1, 1](a)
    assert a[0] == 2


@pytest.mark.parametrize("signature", ["int32(int32[:])", ["void(int32[:])", "bool(int8[:])"]])
def test_a_signature_with_a_result(signature: object) -> None:
    with pytest.raises(SignatureError, match=r"k: a kernel returns nothing: write void\(int"):

        @kernel(signature=signature)
        def k(a):
            a[0] = 1


def test_a_kernel_of_numba_that_returns_a_value_is_a_device_function(target: str) -> None:
    @cuda.jit
    def incremented(x):
        return x + 1

    @kernel(backend=target)
    def k(a):
        a[0] = incremented(a[0])

    a = np.ones(1)
    k[1, 1](a)
    assert a[0] == 2

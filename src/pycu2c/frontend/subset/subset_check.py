"""Check that a function is in the supported subset when it is decorated: syntax only, no types.

All violations are reported at once. Names are resolved later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Diagnostic, Label, reporting_recursion_limit
from pycu2c.base.records import replace
from pycu2c.base.source import Source, nested_statements
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.unsupported_syntax import EXPRESSIONS, STATEMENTS, UnsupportedSyntax

_SUPPORTED_NAMES = (
    "Assign AugAssign AnnAssign If While For Match Return Raise Assert Delete FunctionDef Expr "
    "Break Continue Pass Name Constant UnaryOp BinOp BoolOp IfExp Compare Call Attribute Subscript "
    "Slice Tuple List NamedExpr Lambda ListComp"
)
_SUPPORTED_NODES = frozenset(_SUPPORTED_NAMES.split())
_MIN_INTEGER, _MAX_INTEGER = dtypes.INT64.minimum, dtypes.UINT64.maximum


def early_diagnostics(source: Source, *, may_return_value: bool) -> list[Diagnostic]:
    """Return the violations of the subset, or else the reads that no path has assigned."""
    with reporting_recursion_limit(source.span(source.tree)):
        returned = [] if may_return_value else _returned_values(source)
        return sorted([*returned, *check_subset(source)], key=_position) or [
            unassigned_read(source, n) for n in live_ranges(source.tree).undefined
        ]


@lru_cache(maxsize=32)
def check_subset(source: Source) -> tuple[Diagnostic, ...]:
    """Return all uses of unsupported Python in a function, in source order."""
    check = _SubsetCheck(source)
    if source.is_async:
        check.reject(source.tree, STATEMENTS[ast.AsyncFunctionDef])
    check.parameters(source.tree.args)
    check.visit_all(source.tree.body)
    return tuple(sorted(check.diagnostics, key=_position))


def _returned_values(source: Source) -> list[Diagnostic]:
    """Return the values that a kernel itself returns, without the functions that it defines."""
    check = _SubsetCheck(source)
    pending: list[ast.AST] = [*source.tree.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            check.reject(node.value, unsupported_syntax.KERNEL_RESULT)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending += nested_statements(node)
    return check.diagnostics


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.labels[0].span
    return span.line, span.column


class _SubsetCheck(ast.NodeVisitor):
    """Collects the diagnostics of unsupported syntax.

    Supported syntax without a method of its own is checked by its children.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []

    def reject(self, node: ast.AST, syntax: UnsupportedSyntax) -> None:
        span = self.source.span(node)
        if syntax.keyword:
            end = span.column + len(syntax.keyword)
            span = replace(span, end_line=span.line, end_column=end)
        self.diagnostics.append(Diagnostic(syntax.code, (Label(span, syntax.text),), syntax.hint))

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt) and type(node).__name__ not in _SUPPORTED_NODES:
            self.reject(node, STATEMENTS.get(type(node), unsupported_syntax.UNSUPPORTED))
            self.nested_statements(node)
        elif isinstance(node, ast.expr) and type(node).__name__ not in _SUPPORTED_NODES:
            self.reject(node, EXPRESSIONS.get(type(node), unsupported_syntax.UNSUPPORTED))
        else:
            super().visit(node)

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    # -- statements --

    def nested_statements(self, node: ast.AST) -> None:
        """Check the statements inside an unsupported one, except those of other scopes."""
        if isinstance(node, ast.AsyncFunctionDef | ast.ClassDef):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.visit(child)
            elif isinstance(child, ast.ExceptHandler):
                self.nested_statements(child)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.target)
        if isinstance(node.op, ast.MatMult):
            self.reject(node, unsupported_syntax.MATMUL)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name):
            self.reject(node.target, unsupported_syntax.ANNOTATED_TARGET)
        self.visit_all([node.value])

    def visit_For(self, node: ast.For) -> None:
        self.names(node.target, unsupported_syntax.LOOP_TARGET)
        self.visit_all([node.iter, *node.body, *node.orelse])

    def names(self, target: ast.expr, otherwise: UnsupportedSyntax) -> None:
        """Check that a target is a name, or a tuple of names."""
        match target:
            case ast.Name() | ast.Starred(value=ast.Name()):
                pass
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.names(item, otherwise)
            case _:
                self.reject(target, otherwise)

    def visit_Raise(self, node: ast.Raise) -> None:
        match node.exc:
            case None:
                self.reject(node, unsupported_syntax.RERAISE)
            case ast.Call(func=exception, args=arguments):
                self.visit(exception)
                for argument in arguments:
                    self.printed_value(argument)
            case exception:
                self.visit(exception)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)
        if node.msg is not None:
            self.printed_value(node.msg)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.names(target, unsupported_syntax.DELETED_TARGET)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.reject(decorator, unsupported_syntax.DECORATED)
        self.visit(node.args)
        self.visit_all(node.body)

    def visit_arguments(self, node: ast.arguments) -> None:
        """Check the parameters and the defaults of a function that a kernel defines."""
        self.parameters(node)
        self.visit_all([*node.defaults, *node.kw_defaults])

    def parameters(self, arguments: ast.arguments) -> None:
        if arguments.kwarg is not None:
            self.reject(arguments.kwarg, unsupported_syntax.KEYWORD_PARAMETERS)

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value
        match value:
            case ast.Call() | ast.NamedExpr() | ast.ListComp():
                self.visit(value)
            case ast.Constant(value=constant) if constant is ... or isinstance(constant, str):
                pass  # strings are docstrings and comments
            case ast.Compare(ops=[ast.Eq()], left=left, comparators=[right]):
                hint = f"did you mean `{ast.unparse(left)} = {ast.unparse(right)}`?"
                self.reject(value, replace(unsupported_syntax.UNUSED, hint=hint))
            case ast.Name() | ast.Attribute():
                hint = f"to call it, write {ast.unparse(value)}()"
                self.reject(value, replace(unsupported_syntax.UNUSED, hint=hint))
            case ast.UnaryOp(op=op, operand=ast.UnaryOp(op=inner, operand=ast.Name(id=name))) if (
                type(op) is type(inner) and isinstance(op, (ast.UAdd, ast.USub))
            ):  # ++x or --x
                hint = f"write `{name} {'+' if isinstance(op, ast.UAdd) else '-'}= 1`"
                self.reject(value, replace(unsupported_syntax.UNUSED, hint=hint))
            case _ if type(value) in EXPRESSIONS:
                self.visit(value)
            case _:
                self.reject(value, unsupported_syntax.UNUSED)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        self.reject(node, unsupported_syntax.CLASS_PATTERN)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.reject(node, unsupported_syntax.MAPPING_PATTERN)

    # -- expressions --

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case None | bool() | float() | complex() | str():
                pass
            case int() as value:
                if not _MIN_INTEGER <= value <= _MAX_INTEGER:
                    self.reject(node, unsupported_syntax.INTEGER_TOO_WIDE)
            case bytes():
                self.reject(node, unsupported_syntax.BYTES)
            case _:
                self.reject(node, unsupported_syntax.UNSUPPORTED)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as integer)):
                if not _MIN_INTEGER <= -integer <= _MAX_INTEGER:
                    self.reject(node, unsupported_syntax.INTEGER_TOO_WIDE)
            case _:
                self.visit(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self.reject(node, unsupported_syntax.MATMUL)
        if any(_is_text(operand) for operand in (node.left, node.right)):
            self.reject(node, unsupported_syntax.STRING)
        else:
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, operands, operands[1:]):
            names_object = _may_name_object(left) or _may_name_object(right)
            if isinstance(op, (ast.Is, ast.IsNot)) and not names_object:
                self.reject(node, unsupported_syntax.IDENTITY)
                return
        self.visit_all(operands)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Constant() | ast.Tuple() | ast.List() | ast.BinOp() | ast.UnaryOp():
                self.reject(node.func, unsupported_syntax.CALLEE)
            case ast.Subscript(slice=ast.Tuple()):
                self.reject(node.func, unsupported_syntax.LAUNCH)
            case callee:
                self.visit(callee)
        is_print = isinstance(node.func, ast.Name) and node.func.id == "print"
        for argument in node.args:
            self.printed_value(argument) if is_print else self.argument(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.reject(keyword, unsupported_syntax.UNPACKED_KEYWORDS)
            else:
                self.argument(keyword.value)

    def argument(self, node: ast.expr) -> None:
        """Check an argument, which may be a generator expression."""
        if isinstance(node, ast.GeneratorExp):
            self.generic_visit(node)
        else:
            self.item(node)

    def item(self, node: ast.expr) -> None:
        """Check an item, which may be starred."""
        self.visit(node.value if isinstance(node, ast.Starred) else node)

    def printed_value(self, node: ast.expr) -> None:
        """Check a value to print, which may be an f-string."""
        if not isinstance(node, ast.JoinedStr):
            self.argument(node)
            return
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.printed_value(part.value)
                if part.format_spec is not None:
                    self.printed_value(part.format_spec)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if _is_text(node.value):
            self.reject(node.value, unsupported_syntax.STRING)
        else:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        for index in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if _is_none(index):
                self.reject(index, unsupported_syntax.NEW_AXIS)
            elif not (isinstance(index, ast.Constant) and index.value is ...):
                self.visit(index)

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> None:
        for item in node.elts:
            self.item(item)

    visit_List = visit_Tuple

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self.reject(node.iter, EXPRESSIONS[ast.Await])
        self.names(node.target, unsupported_syntax.LOOP_TARGET)
        self.visit_all([node.iter, *node.ifs])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _may_name_object(node: ast.expr) -> bool:
    """Return whether an operand is None, True, False or may name a member of an enumeration."""
    match node:
        case ast.Constant(value=None | bool()) | ast.Attribute():
            return True
        case ast.Subscript(slice=ast.Constant(value=str())):
            return True
        case _:
            return False


def unassigned_read(source: Source, node: ast.Name) -> Diagnostic:
    """Return the diagnostic of a read of a local name that no path has assigned."""
    labels = [Label(source.span(node), f"`{node.id}` has no value here")]
    same_name = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == node.id)
    for other in same_name:
        if isinstance(other.ctx, ast.Del):
            labels.append(Label(source.span(other), "it is deleted here"))
        elif isinstance(other.ctx, ast.Store) and other.lineno > node.lineno:
            labels.append(Label(source.span(other), "it is assigned here"))
    hint = f"give {node.id} a first value"
    if node.id in source.python.__globals__:
        hint += ", or use another name: a name that a function assigns is local, not global"
    return Diagnostic("name", tuple(labels[:2]), hint)

"""Check that expressions are in the subset: which syntax is supported, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Diagnostic, Label
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Source, Span
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.unsupported_syntax import EXPRESSIONS, UnsupportedSyntax

_LEAST, _GREATEST = dtypes.INT64.minimum, dtypes.UINT64.maximum


@dataclass(slots=True)
class ExpressionCheck:
    """Collects the diagnostics of unsupported syntax."""

    source: Source
    found: list[Diagnostic] = field(default_factory=list)

    def reject(self, node: ast.AST, why: UnsupportedSyntax) -> None:
        span = self.source.span(node)
        if why.keyword:
            span = replace(span, end_line=span.line, end_column=span.column + len(why.keyword))
        self.report(span, why)

    def report(self, span: Span, why: UnsupportedSyntax) -> None:
        self.found.append(Diagnostic(why.code, (Label(span, why.text),), why.hint))

    def optional(self, node: ast.expr | None) -> None:
        if node is not None:
            self.expression(node)

    def expressions(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self.expression(node)

    def expression(self, node: ast.expr) -> None:
        match node:
            case ast.Name():
                pass
            case ast.Constant():
                self.constant(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as whole)):
                if not _LEAST <= -whole <= _GREATEST:
                    self.reject(node, unsupported_syntax.TOO_WIDE)
            case ast.UnaryOp(operand=operand):
                self.expression(operand)
            case ast.BinOp():
                self.operation(node)
            case ast.BoolOp(values=parts):
                self.expressions(parts)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.expressions([test, body, orelse])
            case ast.Compare():
                self.comparison(node)
            case ast.Call():
                self.call(node)
            case ast.Attribute(value=ast.Constant(value=str())):
                self.reject(node.value, unsupported_syntax.STRING)
            case ast.Attribute(value=owner):
                self.expression(owner)
            case ast.Subscript(value=owner, slice=index):
                self.expression(owner)
                for part in index.elts if isinstance(index, ast.Tuple) else [index]:
                    self.index(part)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.item(item)
            case ast.NamedExpr(value=value):
                self.expression(value)
            case ast.Lambda(args=parameters, body=body):
                self.parameters(parameters)
                self.defaults(parameters)
                self.expression(body)
            case ast.ListComp():
                self.comprehension(node)
            case _:
                self.reject(node, EXPRESSIONS.get(type(node), unsupported_syntax.UNSUPPORTED))

    def constant(self, node: ast.Constant) -> None:
        match node.value:
            case None | bool() | float() | complex() | str():
                pass
            case int() as value:
                if not _LEAST <= value <= _GREATEST:
                    self.reject(node, unsupported_syntax.TOO_WIDE)
            case bytes():
                self.reject(node, unsupported_syntax.BYTES)
            case _:
                self.reject(node, unsupported_syntax.UNSUPPORTED)

    def operation(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self.reject(node, unsupported_syntax.MATMUL)
        if any(_is_text(part) for part in (node.left, node.right)):
            self.reject(node, unsupported_syntax.STRING)
        else:
            self.expressions([node.left, node.right])

    def comparison(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, operands, operands[1:]):
            with_none = _is_none(left) or _is_none(right)
            if isinstance(op, (ast.Is, ast.IsNot)) and not with_none:
                self.reject(node, unsupported_syntax.IDENTITY)
                return
        self.expressions(operands)

    def call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Constant() | ast.Tuple() | ast.List() | ast.BinOp() | ast.UnaryOp():
                self.reject(node.func, unsupported_syntax.CALLEE)
            case ast.Subscript(slice=ast.Tuple()):
                self.reject(node.func, unsupported_syntax.LAUNCH)
            case callee:
                self.expression(callee)
        prints = isinstance(node.func, ast.Name) and node.func.id == "print"
        for argument in node.args:
            self.printed(argument) if prints else self.argument(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.reject(keyword, unsupported_syntax.KEYWORDS)
            else:
                self.argument(keyword.value)

    def argument(self, node: ast.expr) -> None:
        """Check an argument, which may be a generator expression."""
        if isinstance(node, ast.GeneratorExp):
            self.comprehension(node)
        else:
            self.item(node)

    def item(self, node: ast.expr) -> None:
        """Check an item, which may be starred."""
        self.expression(node.value if isinstance(node, ast.Starred) else node)

    def printed(self, node: ast.expr) -> None:
        """Check a value to print, which may be an f-string."""
        if not isinstance(node, ast.JoinedStr):
            self.argument(node)
            return
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.printed(part.value)
                if part.format_spec is not None:
                    self.printed(part.format_spec)

    def index(self, node: ast.expr) -> None:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                for bound in (lower, upper, step):
                    self.optional(bound)
            case ast.Constant(value=None):
                self.reject(node, unsupported_syntax.NEW_AXIS)
            case ast.Constant(value=value) if value is ...:
                pass
            case _:
                self.expression(node)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        for generator in node.generators:
            if generator.is_async:
                self.reject(generator.iter, EXPRESSIONS[ast.Await])
            self.bound(generator.target)
            self.expression(generator.iter)
            self.expressions(generator.ifs)
        self.expression(node.elt)

    def bound(self, target: ast.expr) -> None:
        """Check a loop target: names, and tuples of them."""
        match target:
            case ast.Name() | ast.Starred(value=ast.Name()):
                pass
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.bound(item)
            case _:
                self.reject(target, unsupported_syntax.LOOP_TARGET)

    def parameters(self, arguments: ast.arguments) -> None:
        if arguments.kwarg is not None:
            self.reject(arguments.kwarg, unsupported_syntax.KEYWORD_REST)

    def defaults(self, arguments: ast.arguments) -> None:
        """Check the defaults of a function that a kernel defines; the kernel evaluates them."""
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            self.optional(default)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None

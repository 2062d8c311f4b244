"""The check of the subset when a kernel is defined: syntax only, before any types are known.

All breaches of a function are reported at once. What the names mean is resolved elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pycu2c import dtypes
from pycu2c.diagnostics import Diagnostic, Label
from pycu2c.frontend import refusals
from pycu2c.frontend.refusals import COMPARISONS, EXPRESSIONS, STATEMENTS, Refusal
from pycu2c.source import Source, Span

_LEAST, _GREATEST = dtypes.INT64.minimum, dtypes.UINT64.maximum


def check(source: Source) -> list[Diagnostic]:
    """Every use of Python in a function that is outside of the subset, in the order of the text."""
    walk = _Check(source)
    walk.parameters(source.tree.args)
    walk.block(_without_docstring(source.tree.body))
    return sorted(walk.found, key=_place)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.labels[0].span
    return span.line, span.column


@dataclass(slots=True)
class _Check:
    source: Source
    found: list[Diagnostic] = field(default_factory=list)

    def refuse(self, node: ast.AST, why: Refusal) -> None:
        span = self.source.span(node)
        if why.keyword:
            span = replace(span, end_line=span.line, end_column=span.column + len(why.keyword))
        self.report(span, why)

    def report(self, span: Span, why: Refusal) -> None:
        self.found.append(Diagnostic(why.code, (Label(span, why.text),), why.help))

    def parameters(self, arguments: ast.arguments) -> None:
        if arguments.kwarg is not None:
            self.refuse(arguments.kwarg, refusals.REST)

    # -- statements --

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.target(target)
                self.items(value)
            case ast.AugAssign():
                self.augmented(node)
            case ast.AnnAssign(target=target, value=value):
                if isinstance(target, ast.Name):
                    self.optional(value)
                else:
                    self.refuse(target, refusals.TARGET)
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test)
                self.block(body)
                self.block(orelse)
            case ast.While(test=test, body=body):
                self.expression(test)
                self.block(body)
                self.loop_else(node)
            case ast.For():
                self.for_loop(node)
            case ast.Return(value=value):
                self.optional(value)
            case ast.FunctionDef():
                self.local_function(node)
            case ast.Expr(value=value):
                self.evaluated(value)
            case ast.Break() | ast.Continue() | ast.Pass():
                pass
            case _:
                self.refuse(node, STATEMENTS.get(type(node), refusals.UNKNOWN))
                self.inside(node)

    def local_function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.refuse(decorator, refusals.DECORATOR)
        self.lambda_parameters(node.args)
        self.block(_without_docstring(node.body))

    def lambda_parameters(self, arguments: ast.arguments) -> None:
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            self.optional(default)
        self.parameters(arguments)

    def inside(self, node: ast.AST) -> None:
        """The statements in a refused one, as its cure keeps them; other scopes are left out."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                self.inside(child)

    def augmented(self, node: ast.AugAssign) -> None:
        self.target(node.target)
        if isinstance(node.op, ast.MatMult):
            self.refuse(node, refusals.MATMUL)
        self.expression(node.value)

    def target(self, node: ast.expr) -> None:
        match node:
            case ast.Name():
                pass
            case ast.Subscript() | ast.Attribute():
                self.expression(node)
            case ast.Starred(value=value):
                self.target(value)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.target(item)
            case _:
                self.refuse(node, refusals.TARGET)

    def for_loop(self, node: ast.For) -> None:
        match node.iter:
            case ast.Call(func=ast.Name(id="range")):
                self.expression(node.iter)
                if not isinstance(node.target, ast.Name):
                    self.refuse(node.target, refusals.LOOP_TARGET)
            case _:
                text = "this is not range(...)"
                self.refuse(node.iter, Refusal("for-range", text, refusals.counted(node.iter)))
        self.block(node.body)
        self.loop_else(node)

    def loop_else(self, node: ast.For | ast.While) -> None:
        if not node.orelse:
            return
        self.report(self.else_span(node), refusals.LOOP_ELSE)
        self.block(node.orelse)

    def else_span(self, node: ast.For | ast.While) -> Span:
        """The word ``else``: it has no syntax node, but it is alone between body and else-body."""
        last, first = self.source.span(node.body[-1]), self.source.span(node.orelse[0])
        for number in range(last.end_line + 1, first.line + 1):
            text = self.source.lines[number - 1]
            column = len(text) - len(text.lstrip())
            if text.startswith("else", column):
                return Span(self.source.file, number, column, number, column + len("else"))
        return first

    def evaluated(self, node: ast.expr) -> None:
        """An expression as a statement: a call, or a mistake."""
        match node:
            case ast.Call():
                self.expression(node)
            case ast.Constant(value=str()):
                self.refuse(node, refusals.REMARK)
            case ast.Constant(value=value) if value is ...:
                self.refuse(node, refusals.ELLIPSIS)
            case ast.Compare(ops=[ast.Eq()], left=left, comparators=[right]):
                cure = f"did you mean `{ast.unparse(left)} = {ast.unparse(right)}`?"
                self.refuse(node, replace(refusals.UNUSED, help=cure))
            case _ if type(node) in EXPRESSIONS and not isinstance(node, ast.Tuple):
                self.expression(node)
            case _:
                self.refuse(node, refusals.UNUSED)

    # -- expressions --

    def optional(self, node: ast.expr | None) -> None:
        if node is not None:
            self.expression(node)

    def items(self, node: ast.expr) -> None:
        """An expression where a tuple may stand."""
        if isinstance(node, ast.Tuple):
            for item in node.elts:
                self.items(item)
        else:
            self.expression(node)

    def expression(self, node: ast.expr) -> None:
        match node:
            case ast.Name():
                pass
            case ast.Constant():
                self.constant(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.expression(item.value if isinstance(item, ast.Starred) else item)
            case ast.NamedExpr(value=value):
                self.expression(value)
            case ast.Lambda(args=arguments, body=body):
                self.lambda_parameters(arguments)
                self.expression(body)
            case ast.ListComp() | ast.GeneratorExp():
                self.comprehension(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as whole)):
                if not _LEAST <= -whole <= _GREATEST:
                    self.refuse(node, refusals.TOO_WIDE)
            case ast.UnaryOp(operand=operand):
                self.expression(operand)
            case ast.BinOp(left=left, op=op, right=right):
                if isinstance(op, ast.MatMult):
                    self.refuse(node, refusals.MATMUL)
                self.expression(left)
                self.expression(right)
            case ast.BoolOp(values=values):
                for part in values:
                    self.expression(part)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                for part in (test, body, orelse):
                    self.expression(part)
            case ast.Compare():
                self.comparison(node)
            case ast.Call():
                self.call(node)
            case ast.Attribute(value=owner):
                self.expression(owner)
            case ast.Subscript(value=owner, slice=index):
                self.expression(owner)
                for part in index.elts if isinstance(index, ast.Tuple) else [index]:
                    self.index(part)
            case _:
                self.refuse(node, EXPRESSIONS.get(type(node), refusals.UNKNOWN))

    def constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool() | float() | complex():
                pass
            case int() as value:
                if not _LEAST <= value <= _GREATEST:
                    self.refuse(node, refusals.TOO_WIDE)
            case str() | None:
                pass
            case bytes():
                self.refuse(node, refusals.STRING)
            case _:
                self.refuse(node, refusals.UNKNOWN)

    def comparison(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        identity = any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
        if identity and not any(map(_is_none, operands)):
            self.refuse(node, COMPARISONS[ast.Is])
        for operand in operands:
            self.expression(operand)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        self.expression(node.elt)
        for generator in node.generators:
            self.target(generator.target)
            self.expression(generator.iter)
            for test in generator.ifs:
                self.expression(test)

    def call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name(id="print"):
                self.refuse(node, refusals.PRINT)
                return
            case ast.Name() | ast.Attribute():
                self.expression(node.func)
            case _:
                self.refuse(node.func, refusals.CALLEE)
        for argument in node.args:
            self.argument(argument.value if isinstance(argument, ast.Starred) else argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(keyword, refusals.KEYWORDS)
            else:
                self.argument(keyword.value)

    def argument(self, node: ast.expr) -> None:
        """A value, a shape, or the name of a dtype in quotes."""
        match node:
            case ast.Constant(value=str() as name) if name in dtypes.BY_NAME:
                pass
            case _:
                self.items(node)

    def index(self, node: ast.expr) -> None:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                for bound in (lower, upper, step):
                    self.optional(bound)
            case ast.Constant(value=None):
                self.refuse(node, refusals.NEW_AXIS)
            case ast.Constant(value=value) if value is ...:
                pass
            case _:
                self.expression(node)


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None

"""Check that a function is in the subset when it is defined: syntax only, no types.

All violations are reported at once. Names are resolved later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from pycu2c.base.diagnostics import Diagnostic
from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.expressions import ExpressionCheck
from pycu2c.frontend.subset.unsupported_syntax import EXPRESSIONS, STATEMENTS


def check_subset(source: Source) -> list[Diagnostic]:
    """Return all uses of unsupported Python in a function, in source order."""
    checker = _SubsetCheck(source)
    if source.is_async:
        checker.reject(source.tree, STATEMENTS[ast.AsyncFunctionDef])
    checker.parameters(source.tree.args)
    checker.body(source.tree.body)
    return sorted(checker.found, key=_position)


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.labels[0].span
    return span.line, span.column


class _SubsetCheck(ExpressionCheck):
    def body(self, body: list[ast.stmt]) -> None:
        """Check the statements of a function; the first may be a docstring."""
        match body:
            case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                self.block(rest)
            case _:
                self.block(body)

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.target(target)
                self.expression(value)
            case ast.AugAssign():
                self.augmented(node)
            case ast.AnnAssign(target=target, value=value):
                if not isinstance(target, ast.Name):
                    self.reject(target, unsupported_syntax.ANNOTATED_TARGET)
                self.optional(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test)
                self.blocks(body, orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self.expression(test)
                self.blocks(body, orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.bound(target)
                self.expression(iterable)
                self.blocks(body, orelse)
            case ast.Match():
                self.match_statement(node)
            case ast.Return(value=value):
                self.optional(value)
            case ast.Raise():
                self.raised(node)
            case ast.Assert(test=test, msg=message):
                self.expression(test)
                if message is not None:
                    self.printed(message)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.deleted(target)
            case ast.FunctionDef():
                self.function(node)
            case ast.Expr(value=value):
                self.evaluated(value)
            case ast.Break() | ast.Continue() | ast.Pass():
                pass
            case _:
                self.reject(node, STATEMENTS.get(type(node), unsupported_syntax.UNSUPPORTED))
                self.inside(node)

    def blocks(self, *bodies: list[ast.stmt]) -> None:
        for body in bodies:
            self.block(body)

    def inside(self, node: ast.AST) -> None:
        """Check the statements inside an unsupported one, except those of other scopes."""
        if isinstance(node, ast.AsyncFunctionDef | ast.ClassDef):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.ExceptHandler):
                self.inside(child)

    def augmented(self, node: ast.AugAssign) -> None:
        self.target(node.target)
        if isinstance(node.op, ast.MatMult):
            self.reject(node, unsupported_syntax.MATMUL)
        self.expression(node.value)

    def target(self, node: ast.expr) -> None:
        match node:
            case ast.Name():
                pass
            case ast.Subscript() | ast.Attribute():
                self.expression(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.target(item.value if isinstance(item, ast.Starred) else item)
            case _:
                self.reject(node, unsupported_syntax.UNSUPPORTED)

    def deleted(self, node: ast.expr) -> None:
        match node:
            case ast.Name():
                pass
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.deleted(item)
            case _:
                self.reject(node, unsupported_syntax.DELETED_TARGET)

    def raised(self, node: ast.Raise) -> None:
        match node.exc:
            case None:
                self.reject(node, unsupported_syntax.RERAISE)
            case ast.Call(func=what, args=arguments):
                self.expression(what)
                for argument in arguments:
                    self.printed(argument)
            case what:
                self.expression(what)

    def function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.reject(decorator, unsupported_syntax.DECORATED)
        self.parameters(node.args)
        self.defaults(node.args)
        self.body(node.body)

    def evaluated(self, node: ast.expr) -> None:
        """Check an expression statement."""
        match node:
            case ast.Call() | ast.NamedExpr() | ast.ListComp():
                self.expression(node)
            case ast.Constant(value=value) if value is ...:
                pass
            case ast.Constant(value=str()):
                self.reject(node, unsupported_syntax.UNUSED_STRING)
            case ast.Compare(ops=[ast.Eq()], left=left, comparators=[right]):
                hint = f"did you mean `{ast.unparse(left)} = {ast.unparse(right)}`?"
                self.reject(node, replace(unsupported_syntax.UNUSED, hint=hint))
            case ast.Name() | ast.Attribute():
                hint = f"to call it, write {ast.unparse(node)}()"
                self.reject(node, replace(unsupported_syntax.UNUSED, hint=hint))
            case ast.UnaryOp(
                op=op, operand=ast.UnaryOp(op=next_pass, operand=ast.Name(id=name))
            ) if type(op) is type(next_pass) and isinstance(op, (ast.UAdd, ast.USub)):
                hint = f"write `{name} {'+' if isinstance(op, ast.UAdd) else '-'}= 1`"
                self.reject(node, replace(unsupported_syntax.UNUSED, hint=hint))
            case _ if type(node) in EXPRESSIONS:
                self.expression(node)
            case _:
                self.reject(node, unsupported_syntax.UNUSED)

    # -- match --

    def match_statement(self, node: ast.Match) -> None:
        self.expression(node.subject)
        for case in node.cases:
            self.pattern(case.pattern)
            self.optional(case.guard)
            self.block(case.body)

    def pattern(self, node: ast.pattern) -> None:
        match node:
            case ast.MatchValue(value=value):
                self.expression(value)
            case ast.MatchSequence(patterns=parts) | ast.MatchOr(patterns=parts):
                for part in parts:
                    self.pattern(part)
            case ast.MatchAs(pattern=inner):
                if inner is not None:
                    self.pattern(inner)
            case ast.MatchClass():
                self.reject(node, unsupported_syntax.CLASS_PATTERN)
            case ast.MatchMapping():
                self.reject(node, unsupported_syntax.MAPPING_PATTERN)
            case _:  # a star pattern, True, False or None
                pass

"""Check that a function is in the supported subset when it is decorated: syntax only, no types.

All violations are reported at once. Names are resolved later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Diagnostic, Label, reporting_recursion_limit
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Source, Span
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.unsupported_syntax import EXPRESSIONS, STATEMENTS, UnsupportedSyntax


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


_LEAST, _GREATEST = dtypes.INT64.minimum, dtypes.UINT64.maximum


@dataclass(slots=True)
class _SubsetCheck:
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

    # -- statements --

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


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def early_diagnostics(source: Source) -> list[Diagnostic]:
    """Return the violations of the subset, or else the reads that no path has assigned."""
    with reporting_recursion_limit(source.span(source.tree)):
        return check_subset(source) or [
            unassigned_read(source, n) for n in live_ranges(source.tree).undefined
        ]


def unassigned_read(source: Source, node: ast.Name) -> Diagnostic:
    """Return the diagnostic of a read that no path has assigned, of a name the function assigns."""
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

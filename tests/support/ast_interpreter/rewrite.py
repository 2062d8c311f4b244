"""Rewrite the syntax tree of a kernel to a Python function with the kernel's semantics.

``a[i] += x * 2`` becomes ``store(a, i, add(load(a, i), mul(x, 2)))``. Control flow, names of locals
and line numbers stay the user's. ``reference.calls`` implements the calls.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import ChainMap
from collections.abc import Callable, Mapping
from enum import Enum
from types import FunctionType
from typing import Any, TypeGuard

from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.frontend.scope.bindings import bindings, bound_name, parameters
from pycu2c.frontend.statements.unroll import UnrolledLoop
from pycu2c.interpreter.scheduler import Wait
from pycu2c.interpreter.synchronization import is_busy_wait
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import BINARY_BY_NODE
from support.ast_interpreter import calls as calls
from support.ast_interpreter import elements as elements
from support.ast_interpreter import operators as operators
from support.ast_interpreter.expressions import (
    NOT_STATIC,
    ExpressionRewriter,
    FunctionProperties,
    location,
)
from support.ast_interpreter.weak_floats import ReferenceTypes

__all__ = ["FunctionProperties", "globals_of", "location", "may_busy_wait", "rewrite"]


def rewrite(
    source: Source, inferred: ReferenceTypes, functions: FunctionProperties, may_wait: bool
) -> Callable[..., Any]:
    """Return a kernel or device function as a Python function, with the current globals.

    A function that ``may_wait`` for other threads is a generator function.
    """
    if inferred.tree is not None:
        source = replace(source, tree=inferred.tree)
    rewriter = _Rewriter(source, inferred, functions)
    rewriter.may_wait = may_wait
    module = ast.Module([rewriter.function()], type_ignores=[])
    code = compile(ast.fix_missing_locations(module), source.file, "exec")
    exec(code, rewriter.namespace)
    function: FunctionType = rewriter.namespace[source.name]
    function.__defaults__ = source.python.__defaults__
    function.__kwdefaults__ = source.python.__kwdefaults__
    return function


def globals_of(function: FunctionType) -> Mapping[str, Any]:
    """Return the objects that the free names of a function are bound to."""
    closure = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return ChainMap(closure, function.__globals__, vars(builtins))


class _Rewriter(ExpressionRewriter):
    """Rewrites one function."""

    def __init__(
        self, source: Source, inferred: ReferenceTypes, functions: FunctionProperties
    ) -> None:
        super().__init__(source, inferred, functions, globals_of(source.python))
        self.local_types = inferred.local_types

    # ---- functions ----

    def function(self) -> ast.FunctionDef:
        tree = self.source.tree
        new = copy.copy(tree)
        new.args = _without_annotations(tree.args)
        new.decorator_list, new.returns = [], None
        new.body = self.body(tree)
        if self.may_wait:
            new.body += [ast.Return(ast.Constant(None)), ast.Expr(ast.Yield(None))]
        return new

    def body(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        return [*self.zeros(tree), *self.parameters(tree), *self.block(tree.body)]

    def zeros(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        """Return assignments of 0 to all locals: an unassigned variable reads 0."""
        parameter_names = {a.arg for a in parameters(tree.args)}
        zeros: list[ast.stmt] = []
        for name, nodes in bindings(tree).items():
            types = {self.local_types.get(node) for node in nodes}
            common_type = types.pop() if len(types) == 1 else None
            if name not in parameter_names:
                zero = 0 if not isinstance(common_type, Scalar) else convert(0, common_type)
                zeros.append(ast.Assign([ast.Name(name, ast.Store())], self.object_name(zero)))
        return zeros

    def parameters(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        """Return conversions of the parameters that are assigned again to their joined types."""
        return [
            ast.Assign(
                [ast.Name(a.arg, ast.Store())],
                self.coerced(ast.Name(a.arg, ast.Load()), self.local_types[a]),
            )
            for a in parameters(tree.args)
            if a in self.local_types
        ]

    def local_function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite a nested function; Python closes over its variables."""
        new = copy.copy(node)
        new.args = self.rewrite_arguments(node.args)
        new.decorator_list, new.returns = [], None
        with self.inner_scope(set(bindings(node)), may_wait=True):
            new.body = self.body(node)
        return new

    # ---- statements ----

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new = [self.with_line_of(s, node) for node in body for s in self.statement(node)]
        return new or [ast.Pass()]

    def optional_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return self.block(body) if body else []

    def with_line_of(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        """Give a new statement the line of the old one, for errors."""
        return ast.fix_missing_locations(ast.copy_location(new, old))

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=targets, value=value):
                return self.assign(targets, self.expression(value))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                declared_type = scalar_named(self.static_object(node.annotation))
                return self.assign([target], self.coerced(self.expression(value), declared_type))
            case ast.AugAssign():
                return self.augmented_assignment(node)
            case ast.If(test=test, body=body, orelse=orelse):
                return [
                    ast.If(self.expression(test), self.block(body), self.optional_block(orelse))
                ]
            case ast.While(test=test, body=body, orelse=orelse):
                loop_body = [*self.busy_wait_yield(node), *self.block(body)]
                return [ast.While(self.expression(test), loop_body, self.optional_block(orelse))]
            case ast.For():
                return self.for_loop(node)
            case UnrolledLoop():
                return self.unrolled_loop(node)
            case ast.Match():
                return [self.match(node)]
            case ast.FunctionDef():
                return [self.local_function(node)]
            case ast.Return(value=value) if value is not None:
                result = self.coerced(self.expression(value), self.join_types.get(node))
                return [ast.Return(result)]
            case ast.Raise() if not self.functions.checked:
                return [ast.Raise(self.object_name(elements.ThreadEnds), None)]
            case ast.Raise(exc=ast.Call(func=exception, args=arguments)):
                return [
                    self.raise_exception(
                        node, self.object_name(self.static_object(exception)), arguments
                    )
                ]
            case ast.Raise(exc=exception) if exception is not None:
                return [
                    self.raise_exception(node, self.object_name(self.static_object(exception)), [])
                ]
            case ast.Assert(test=test, msg=message) if self.functions.checked:
                messages = [] if message is None else [message]
                failure: list[ast.stmt] = [
                    self.raise_exception(node, self.object_name(AssertionError), messages)
                ]
                return [ast.If(self.expression(test), [ast.Pass()], failure)]
            case ast.Expr(value=ast.Constant()) | ast.AnnAssign() | ast.Assert() | ast.Delete():
                return []
            case ast.Expr(value=value):
                return [ast.Expr(self.expression(value))]
            case ast.Return() | ast.Break() | ast.Continue() | ast.Pass():
                return [copy.copy(node)]
            case _:
                raise elements.UnsupportedByReferenceError(
                    f"{type(node).__name__} is not in the kernel language"
                )

    def raise_exception(
        self, node: ast.stmt, exception: ast.expr, arguments: list[ast.expr]
    ) -> ast.Raise:
        """Return the ``raise`` of a checked kernel."""
        values = [self.expression(argument) for argument in arguments]
        location_name = self.object_name(location(self.source, node))
        return ast.Raise(
            self.build_call(elements.exception_of, location_name, exception, *values), None
        )

    def assign(self, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Rewrite an assignment: the value first, then the targets from left to right."""
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            return [self.assign_name(targets[0], value)]
        name = self.temporary()
        statements: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
        for target in targets:
            statements += self.assign_target(target, ast.Name(name, ast.Load()))
        return statements

    def assign_name(self, target: ast.Name, value: ast.expr) -> ast.stmt:
        return ast.Assign(
            [ast.Name(target.id, ast.Store())], self.convert_for_target(target, value)
        )

    def convert_for_target(self, target: ast.expr, value: ast.expr) -> ast.expr:
        variable_type = self.local_types.get(target)
        if variable_type is None:
            return self.build_call(operators.to_variable_type, value)
        return self.coerced(value, variable_type)

    def assign_target(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name():
                return [self.assign_name(target, value)]
            case ast.Subscript() | ast.Attribute():
                owner = self.unloaded_owner(target.value)
                return [self.assign_element(owner, self.index_or_field(target), value, target)]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return self.unpack(items, value)
            case _:
                raise elements.UnsupportedByReferenceError(
                    "a kernel assigns to names, elements and tuples of these"
                )

    def index_or_field(self, target: ast.Subscript | ast.Attribute) -> ast.expr:
        """Return the part of its owner that a target names: an index, or the name of a field."""
        if isinstance(target, ast.Attribute):
            return ast.Constant(target.attr)
        return self.index(target.slice)

    def assign_element(
        self, owner: ast.expr, key: ast.expr, value: ast.expr, node: ast.AST
    ) -> ast.stmt:
        """Rewrite ``a[i] = value`` and ``a[i].x = value``; ``v.x = value`` replaces the vector
        ``v``.
        """
        if not self.is_variable(owner):
            return ast.Expr(
                self.build_call(elements.store, owner, key, value, self.location_of(node))
            )
        assert isinstance(owner, ast.Name)
        new = self.build_call(elements.with_component, owner, key, value, self.location_of(node))
        return ast.Assign([ast.Name(owner.id, ast.Store())], new)

    def is_variable(self, owner: ast.expr) -> bool:
        """Return whether the owner of a part is a variable that can be reassigned."""
        return isinstance(owner, ast.Name) and owner.id in self.scope_locals

    def unloaded_owner(self, node: ast.expr) -> ast.expr:
        """Return the owner of a target in memory, without loading it."""
        match node:
            case ast.Subscript(value=owner):
                return self.build_call(
                    elements.element_or_field,
                    self.unloaded_owner(owner),
                    self.index_or_field(node),
                    self.location_of(node),
                )
            case ast.Attribute(value=owner) if self.static_object(node) is NOT_STATIC:
                return self.build_call(
                    calls.field, self.unloaded_owner(owner), self.index_or_field(node)
                )
            case _:
                return self.expression(node)

    def unpack(self, items: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Rewrite unpacking: Python unpacks into temporaries, which are assigned to the targets."""
        names = [self.temporary() for _ in items]
        temporaries: list[ast.expr] = []
        for item, name in zip(items, names):
            temporary: ast.expr = ast.Name(name, ast.Store())
            is_starred = isinstance(item, ast.Starred)
            temporaries.append(ast.Starred(temporary, ast.Store()) if is_starred else temporary)
        statements: list[ast.stmt] = [ast.Assign([ast.Tuple(temporaries, ast.Store())], value)]
        for item, name in zip(items, names):
            temporary = ast.Name(name, ast.Load())
            if isinstance(item, ast.Starred):
                item, temporary = item.value, self.build_call(tuple, temporary)
            statements += self.assign_target(item, temporary)
        return statements

    def augmented_assignment(self, node: ast.AugAssign) -> list[ast.stmt]:
        target = node.target
        combine = self.arithmetic(operators.binary_operation(BINARY_BY_NODE[type(node.op)]))
        right = self.expression(node.value)
        if isinstance(target, ast.Name):
            old: ast.expr = ast.Name(target.id, ast.Load())
            return [self.assign_name(target, self.build_call(combine, old, right))]
        assert isinstance(target, (ast.Subscript, ast.Attribute))
        owner, key = self.unloaded_owner(target.value), self.index_or_field(target)
        prefix: list[ast.stmt] = []
        if not self.is_variable(owner):
            owner = self.to_temporary(owner, prefix)
        key_name = self.to_temporary(key, prefix)
        old = self.build_call(elements.load, owner, key_name, self.location_of(target))
        return [
            *prefix,
            self.assign_element(owner, key_name, self.build_call(combine, old, right), target),
        ]

    def to_temporary(self, value: ast.expr, statements: list[ast.stmt]) -> ast.expr:
        """Assign a value to a temporary."""
        name = self.temporary()
        statements.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return ast.Name(name, ast.Load())

    def for_loop(self, node: ast.For) -> list[ast.stmt]:
        """Rewrite ``for``, with targets in their variables' types."""
        name = self.temporary()
        assignments = self.assign_target(node.target, ast.Name(name, ast.Load()))
        body = [*self.busy_wait_yield(node), *assignments, *self.block(node.body)]
        iterable = self.expression(node.iter)
        orelse = self.optional_block(node.orelse)
        return [ast.For(ast.Name(name, ast.Store()), iterable, body, orelse)]

    def busy_wait_yield(self, loop: ast.While | ast.For) -> list[ast.stmt]:
        """Return a yield for a loop that may busy-wait: after some iterations other threads run."""
        communicates = (
            self.functions.communicates(self.static_object(n))
            for n in ast.walk(loop)
            if _is_dotted(n)
        )
        if not (self.may_wait and may_busy_wait(loop) and any(communicates)):
            return []
        file_line = location(self.source, loop)
        wait = self.object_name(Wait(file_line))
        return [
            self.with_line_of(
                ast.If(self.build_call(is_busy_wait), [ast.Expr(ast.Yield(wait))], []), loop
            )
        ]

    def unrolled_loop(self, node: UnrolledLoop) -> list[ast.stmt]:
        """Rewrite an unrolled loop as a Python loop that selects the body of each iteration."""
        counter, item_name = self.temporary(), self.temporary()
        body: list[ast.stmt] = [ast.Pass()]
        for position, iteration in reversed(list(enumerate(node.iterations))):
            assignments = self.assign_target(iteration.target, ast.Name(item_name, ast.Load()))
            iteration_body = [self.with_line_of(s, node) for s in assignments] + self.block(
                iteration.body
            )
            test = ast.Compare(ast.Name(counter, ast.Load()), [ast.Eq()], [ast.Constant(position)])
            body = [self.with_line_of(ast.If(test, iteration_body, body), node)]
        target = ast.Tuple([ast.Name(n, ast.Store()) for n in (counter, item_name)], ast.Store())
        enumerated = self.build_call(enumerate, self.expression(node.iter))
        return [ast.For(target, enumerated, body, self.optional_block(node.orelse))]

    # ---- match ----

    def match(self, node: ast.Match) -> ast.Match:
        cases = []
        for case in node.cases:
            guard = None if case.guard is None else self.expression(case.guard)
            body = [*self.convert_captures(case.pattern), *self.block(case.body)]
            cases.append(ast.match_case(self.pattern(case.pattern), guard, body))
        return ast.Match(self.expression(node.subject), cases)

    def convert_captures(self, pattern: ast.pattern) -> list[ast.stmt]:
        """Convert the names that a pattern binds to their variables' types."""
        captures = ((bound_name(n), self.local_types.get(n)) for n in ast.walk(pattern))
        return [
            ast.Assign(
                [ast.Name(name, ast.Store())],
                self.coerced(ast.Name(name, ast.Load()), variable_type),
            )
            for name, variable_type in captures
            if name is not None and variable_type is not None
        ]

    def pattern(self, node: ast.pattern) -> ast.pattern:
        """Rewrite a pattern with literal values: names are evaluated now."""
        match node:
            case ast.MatchValue(value=value):
                constant = self.static_object(value)
                return node if isinstance(value, ast.Constant | ast.UnaryOp) else _literal(constant)
            case ast.MatchSequence(patterns=patterns):
                return ast.MatchSequence([self.pattern(p) for p in patterns])
            case ast.MatchOr(patterns=patterns):
                return ast.MatchOr([self.pattern(p) for p in patterns])
            case ast.MatchAs(pattern=inner, name=name) if inner is not None:
                return ast.MatchAs(self.pattern(inner), name)
            case _:
                return node


def may_busy_wait(node: ast.AST) -> bool:
    """Return whether a loop may run until memory changes, rather than count to its end."""
    has_break = isinstance(node, ast.For) and any(isinstance(n, ast.Break) for n in ast.walk(node))
    return has_break or isinstance(node, ast.While)


def _is_dotted(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Name | ast.Attribute)


def _literal(value: Any) -> ast.pattern:
    number = value.value if isinstance(value, Enum) else value
    python_value = number.item() if hasattr(number, "item") else number
    if (
        isinstance(python_value, (int, float))
        and not isinstance(python_value, bool)
        and python_value < 0
    ):
        return ast.MatchValue(ast.UnaryOp(ast.USub(), ast.Constant(-python_value)))
    if python_value is None or isinstance(python_value, bool):
        return ast.MatchSingleton(python_value)
    return ast.MatchValue(ast.Constant(python_value))


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    """Return the parameters without annotations and defaults."""

    def without_annotation(a: ast.arg | None) -> ast.arg | None:
        return None if a is None else ast.arg(a.arg)

    def all_without_annotations(parameters: list[ast.arg]) -> list[ast.arg]:
        return [ast.arg(a.arg) for a in parameters]

    return ast.arguments(
        posonlyargs=all_without_annotations(arguments.posonlyargs),
        args=all_without_annotations(arguments.args),
        vararg=without_annotation(arguments.vararg),
        kwonlyargs=all_without_annotations(arguments.kwonlyargs),
        kw_defaults=[None for _ in arguments.kwonlyargs],
        kwarg=None,
        defaults=[],
    )

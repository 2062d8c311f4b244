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
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import BINARY_BY_NODE
from pycu2c.reference import calls as calls
from pycu2c.reference import elements as elements
from pycu2c.reference.barriers import is_busy_wait
from pycu2c.reference.expressions import (
    NOT_STATIC,
    ExpressionRewriter,
    FunctionProperties,
    location,
)
from pycu2c.reference.scheduler import ThreadEnds, Wait
from pycu2c.reference.weak_floats import ReferenceTypes

__all__ = ["FunctionProperties", "globals_of", "location", "may_busy_wait", "rewrite"]


def rewrite(
    source: Source, inferred: ReferenceTypes, functions: FunctionProperties, waits: bool
) -> Callable[..., Any]:
    """Return a kernel or device function as a Python function, with the current globals.

    A function that ``waits`` for other threads is a generator function.
    """
    if inferred.tree is not None:
        source = replace(source, tree=inferred.tree)
    rewriter = _Rewriter(source, inferred, functions)
    rewriter.waits = waits
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
        if self.waits:
            new.body += [ast.Return(ast.Constant(None)), ast.Expr(ast.Yield(None))]
        return new

    def body(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        return [*self.zeros(tree), *self.parameters(tree), *self.block(tree.body)]

    def zeros(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        """Return assignments of 0 to all locals: an unassigned variable reads 0."""
        own = {a.arg for a in parameters(tree.args)}
        zeros: list[ast.stmt] = []
        for name, nodes in bindings(tree).items():
            types = {self.local_types.get(id(node)) for node in nodes}
            only = types.pop() if len(types) == 1 else None
            if name not in own:
                zero = 0 if not isinstance(only, Scalar) else convert(0, only)
                zeros.append(ast.Assign([ast.Name(name, ast.Store())], self.held(zero)))
        return zeros

    def parameters(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        """Return conversions of the parameters that are assigned again to their joined types."""
        return [
            ast.Assign(
                [ast.Name(a.arg, ast.Store())],
                self.coerced(ast.Name(a.arg, ast.Load()), self.local_types[id(a)]),
            )
            for a in parameters(tree.args)
            if id(a) in self.local_types
        ]

    def local_function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite a nested function; Python closes over its variables."""
        new = copy.copy(node)
        new.args = self.arguments(node.args)
        new.decorator_list, new.returns = [], None
        with self.inside(set(bindings(node)), waits=True):
            new.body = self.body(node)
        return new

    # ---- statements ----

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new = [self.placed(s, at) for at in body for s in self.statement(at)]
        return new or [ast.Pass()]

    def optional(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return self.block(body) if body else []

    def placed(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        """Give a new statement the line of the old one, for errors."""
        return ast.fix_missing_locations(ast.copy_location(new, old))

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=targets, value=value):
                return self.assign(targets, self.expression(value))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                wanted = scalar_named(self.static_object(node.annotation))
                return self.assign([target], self.coerced(self.expression(value), wanted))
            case ast.AugAssign():
                return self.augmented(node)
            case ast.If(test=test, body=body, orelse=orelse):
                return [ast.If(self.expression(test), self.block(body), self.optional(orelse))]
            case ast.While(test=test, body=body, orelse=orelse):
                inside = [*self.pause(node), *self.block(body)]
                return [ast.While(self.expression(test), inside, self.optional(orelse))]
            case ast.For():
                return self.loop(node)
            case UnrolledLoop():
                return self.unrolled_loop(node)
            case ast.Match():
                return [self.match(node)]
            case ast.FunctionDef():
                return [self.local_function(node)]
            case ast.Return(value=value) if value is not None:
                result = self.coerced(self.expression(value), self.join_types.get(id(node)))
                return [ast.Return(result)]
            case ast.Raise() if not self.functions.checked:
                return [ast.Raise(self.held(ThreadEnds), None)]
            case ast.Raise(exc=ast.Call(func=kind, args=given)):
                return [self.error(node, self.held(self.static_object(kind)), given)]
            case ast.Raise(exc=kind) if kind is not None:
                return [self.error(node, self.held(self.static_object(kind)), [])]
            case ast.Assert(test=test, msg=message) if self.functions.checked:
                parts = [] if message is None else [message]
                failing: list[ast.stmt] = [self.error(node, self.held(AssertionError), parts)]
                return [ast.If(self.expression(test), [ast.Pass()], failing)]
            case ast.Expr(value=ast.Constant()) | ast.AnnAssign() | ast.Assert() | ast.Delete():
                return []
            case ast.Expr(value=value):
                return [ast.Expr(self.expression(value))]
            case ast.Return() | ast.Break() | ast.Continue() | ast.Pass():
                return [copy.copy(node)]
            case _:
                raise elements.UnsupportedByReference(
                    f"{type(node).__name__} is not in the kernel language"
                )

    def error(self, node: ast.stmt, kind: ast.expr, arguments: list[ast.expr]) -> ast.Raise:
        """Return the ``raise`` of a checked kernel."""
        values = [self.expression(argument) for argument in arguments]
        where = self.held(location(self.source, node))
        return ast.Raise(self.do(elements.exception_of, where, kind, *values), None)

    def assign(self, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Rewrite an assignment: the value first, then the targets from left to right."""
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            return [self.assign_name(targets[0], value)]
        name = self.temporary()
        stored: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
        for target in targets:
            stored += self.assign_target(target, ast.Name(name, ast.Load()))
        return stored

    def assign_name(self, target: ast.Name, value: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Name(target.id, ast.Store())], self.assigned(target, value))

    def assigned(self, target: ast.expr, value: ast.expr) -> ast.expr:
        kind = self.local_types.get(id(target))
        return self.do(calls.to_variable_type, value) if kind is None else self.coerced(value, kind)

    def assign_target(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name():
                return [self.assign_name(target, value)]
            case ast.Subscript() | ast.Attribute():
                owner = self.place(target.value)
                return [self.assign_part(owner, self.part_of(target), value, target)]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return self.unpacked(items, value)
            case _:
                raise elements.UnsupportedByReference(
                    "a kernel assigns to names, elements and tuples of these"
                )

    def part_of(self, target: ast.Subscript | ast.Attribute) -> ast.expr:
        """Return the part of its owner that a target names: an index, or the name of a field."""
        if isinstance(target, ast.Attribute):
            return ast.Constant(target.attr)
        return self.index(target.slice)

    def assign_part(
        self, owner: ast.expr, part: ast.expr, value: ast.expr, at: ast.AST
    ) -> ast.stmt:
        """Rewrite ``a[i] = value`` and ``a[i].x = value``; ``v.x = value`` replaces the vector
        ``v``.
        """
        if not self.is_own(owner):
            return ast.Expr(self.do(elements.store, owner, part, value, self.where(at)))
        assert isinstance(owner, ast.Name)
        new = self.do(elements.with_component, owner, part, value, self.where(at))
        return ast.Assign([ast.Name(owner.id, ast.Store())], new)

    def is_own(self, owner: ast.expr) -> bool:
        """Return whether the owner of a part is a variable that can be reassigned."""
        return isinstance(owner, ast.Name) and owner.id in self.own

    def place(self, node: ast.expr) -> ast.expr:
        """Return the owner of a target as a place in memory, without loading it."""
        match node:
            case ast.Subscript(value=owner):
                return self.do(
                    elements.element_or_field,
                    self.place(owner),
                    self.part_of(node),
                    self.where(node),
                )
            case ast.Attribute(value=owner) if self.static_object(node) is NOT_STATIC:
                return self.do(calls.field, self.place(owner), self.part_of(node))
            case _:
                return self.expression(node)

    def unpacked(self, items: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Rewrite unpacking: Python unpacks into temporaries, which are assigned to the targets."""
        names = [self.temporary() for _ in items]
        parts: list[ast.expr] = []
        for item, name in zip(items, names):
            part: ast.expr = ast.Name(name, ast.Store())
            is_starred = isinstance(item, ast.Starred)
            parts.append(ast.Starred(part, ast.Store()) if is_starred else part)
        stored: list[ast.stmt] = [ast.Assign([ast.Tuple(parts, ast.Store())], value)]
        for item, name in zip(items, names):
            part = ast.Name(name, ast.Load())
            if isinstance(item, ast.Starred):
                item, part = item.value, self.do(tuple, part)
            stored += self.assign_target(item, part)
        return stored

    def augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        target = node.target
        combine = self.arithmetic(calls.binary_operation(BINARY_BY_NODE[type(node.op)]))
        right = self.expression(node.value)
        if isinstance(target, ast.Name):
            old: ast.expr = ast.Name(target.id, ast.Load())
            return [self.assign_name(target, self.do(combine, old, right))]
        assert isinstance(target, (ast.Subscript, ast.Attribute))
        owner, at = self.place(target.value), self.part_of(target)
        first: list[ast.stmt] = []
        if not self.is_own(owner):
            owner = self.to_temporary(owner, first)
        part = self.to_temporary(at, first)
        old = self.do(elements.load, owner, part, self.where(target))
        return [*first, self.assign_part(owner, part, self.do(combine, old, right), target)]

    def to_temporary(self, value: ast.expr, written: list[ast.stmt]) -> ast.expr:
        """Assign a value to a temporary."""
        name = self.temporary()
        written.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return ast.Name(name, ast.Load())

    def loop(self, node: ast.For) -> list[ast.stmt]:
        """Rewrite ``for``, with targets in their variables' types."""
        name = self.temporary()
        first = self.assign_target(node.target, ast.Name(name, ast.Load()))
        body = [*self.pause(node), *first, *self.block(node.body)]
        iterable = self.expression(node.iter)
        orelse = self.optional(node.orelse)
        return [ast.For(ast.Name(name, ast.Store()), iterable, body, orelse)]

    def pause(self, loop: ast.While | ast.For) -> list[ast.stmt]:
        """Return a yield for a loop that may busy-wait: after some iterations other threads run."""
        acts = (self.functions.acts(self.static_object(n)) for n in ast.walk(loop) if _is_dotted(n))
        if not (self.waits and may_busy_wait(loop) and any(acts)):
            return []
        where = location(self.source, loop)
        wait = self.held(Wait(where))
        return [self.placed(ast.If(self.do(is_busy_wait), [ast.Expr(ast.Yield(wait))], []), loop)]

    def unrolled_loop(self, node: UnrolledLoop) -> list[ast.stmt]:
        """Rewrite an unrolled loop as a Python loop that selects the body of each iteration."""
        number, name = self.temporary(), self.temporary()
        body: list[ast.stmt] = [ast.Pass()]
        for position, written in reversed(list(enumerate(node.iterations))):
            first = self.assign_target(written.target, ast.Name(name, ast.Load()))
            inside = [self.placed(s, node) for s in first] + self.block(written.body)
            test = ast.Compare(ast.Name(number, ast.Load()), [ast.Eq()], [ast.Constant(position)])
            body = [self.placed(ast.If(test, inside, body), node)]
        target = ast.Tuple([ast.Name(n, ast.Store()) for n in (number, name)], ast.Store())
        counted = self.do(enumerate, self.expression(node.iter))
        return [ast.For(target, counted, body, self.optional(node.orelse))]

    # ---- match ----

    def match(self, node: ast.Match) -> ast.Match:
        cases = []
        for case in node.cases:
            guard = None if case.guard is None else self.expression(case.guard)
            body = [*self.captured(case.pattern), *self.block(case.body)]
            cases.append(ast.match_case(self.pattern(case.pattern), guard, body))
        return ast.Match(self.expression(node.subject), cases)

    def captured(self, pattern: ast.pattern) -> list[ast.stmt]:
        """Convert the names that a pattern binds to their variables' types."""
        bound = ((bound_name(n), self.local_types.get(id(n))) for n in ast.walk(pattern))
        return [
            ast.Assign(
                [ast.Name(name, ast.Store())], self.coerced(ast.Name(name, ast.Load()), wanted)
            )
            for name, wanted in bound
            if name is not None and wanted is not None
        ]

    def pattern(self, node: ast.pattern) -> ast.pattern:
        """Rewrite a pattern with literal values: names are evaluated now."""
        match node:
            case ast.MatchValue(value=value):
                known = self.static_object(value)
                return node if isinstance(value, ast.Constant | ast.UnaryOp) else _literal(known)
            case ast.MatchSequence(patterns=parts):
                return ast.MatchSequence([self.pattern(p) for p in parts])
            case ast.MatchOr(patterns=parts):
                return ast.MatchOr([self.pattern(p) for p in parts])
            case ast.MatchAs(pattern=inner, name=name) if inner is not None:
                return ast.MatchAs(self.pattern(inner), name)
            case _:
                return node


def may_busy_wait(node: ast.AST) -> bool:
    """Return whether a loop may run until memory changes, rather than count to its end."""
    leaves = isinstance(node, ast.For) and any(isinstance(n, ast.Break) for n in ast.walk(node))
    return leaves or isinstance(node, ast.While)


def _is_dotted(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Name | ast.Attribute)


def _literal(value: Any) -> ast.pattern:
    known = value.value if isinstance(value, Enum) else value
    plain = known.item() if hasattr(known, "item") else known
    if isinstance(plain, (int, float)) and not isinstance(plain, bool) and plain < 0:
        return ast.MatchValue(ast.UnaryOp(ast.USub(), ast.Constant(-plain)))
    if plain is None or isinstance(plain, bool):
        return ast.MatchSingleton(plain)
    return ast.MatchValue(ast.Constant(plain))


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    """Return the parameters without annotations and defaults."""

    def bare(a: ast.arg | None) -> ast.arg | None:
        return None if a is None else ast.arg(a.arg)

    def listed(all_of: list[ast.arg]) -> list[ast.arg]:
        return [ast.arg(a.arg) for a in all_of]

    return ast.arguments(
        posonlyargs=listed(arguments.posonlyargs),
        args=listed(arguments.args),
        vararg=bare(arguments.vararg),
        kwonlyargs=listed(arguments.kwonlyargs),
        kw_defaults=[None for _ in arguments.kwonlyargs],
        kwarg=None,
        defaults=[],
    )

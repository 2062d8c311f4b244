"""Rewrite expressions of a kernel to Python expressions with the kernel's semantics.

``x * 2`` becomes a call of the operator's reference; ``a[i]`` a checked load. Locals keep their
names.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import EnumMeta
from inspect import isgenerator
from types import MethodType
from typing import Any, TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType
from pycu2c.frontend.scope.bindings import bindings, comprehension_targets
from pycu2c.ops.intrinsics.registry import bound_to
from pycu2c.ops.intrinsics.threads.coalesced_groups import method_of
from pycu2c.ops.intrinsics.threads.cooperative_groups import tiled_partition
from pycu2c.ops.operators import BINARY_BY_NODE, UNARY_BY_NODE
from pycu2c.reference import calls as calls
from pycu2c.reference import elements as elements
from pycu2c.reference.barriers import SKIPPED, collect
from pycu2c.reference.constant_folding import ConstantFolder
from pycu2c.reference.scheduler import Coroutine
from pycu2c.reference.weak_floats import ReferenceTypes

# callee, call node, enclosing source -> function to call; whether it is a generator function
Callee: TypeAlias = Callable[[object, ast.Call, Source], tuple[Callable[..., Any], bool]]


@dataclass(frozen=True, slots=True)
class FunctionProperties:
    """Properties of the functions that a kernel names.

    ``acts``: whether it communicates through memory; ``waits``: whether threads may wait in it;
    ``checked``: whether exceptions of threads are raised.
    """

    callee: Callee
    acts: Callable[[object], bool]
    waits: Callable[[object], bool]
    checked: bool = False


class _NotStatic:
    """The result for an expression that depends on a local."""


NOT_STATIC = _NotStatic()


def location(source: Source, node: ast.AST) -> str:
    """Return ``file:line``, for errors."""
    return f"{source.file}:{getattr(node, 'lineno', source.tree.lineno)}"


def access_location(source: Source, node: ast.AST) -> elements.AccessLocation:
    """Return the location of an array access, with the array's expression."""
    match node:
        case ast.Subscript(value=array) | ast.Call(args=[array, *_]):
            return elements.AccessLocation(location(source, node), ast.unparse(array))
        case _:
            return elements.AccessLocation(location(source, node))


class ExpressionRewriter:
    """Rewrites the expressions of one function.

    Objects that the new code refers to have names that no Python source can have.
    """

    def __init__(
        self,
        source: Source,
        inferred: ReferenceTypes,
        functions: FunctionProperties,
        free: Mapping[str, Any],
    ) -> None:
        self.source = source
        self.join_types = inferred.join_types
        self.arithmetic = inferred.arithmetic
        self.functions = functions
        self.callee = functions.callee
        self.free = free
        self.namespace: dict[str, Any] = {}
        code = source.python.__code__
        self.locals: set[str] = set(code.co_varnames + code.co_cellvars)
        self.own = frozenset(self.locals)  # locals of the current scope
        self.constants = ConstantFolder(self.static_object)
        self.temporaries = 0
        self.waits = True  # whether the current code may wait for other threads

    # ---- building blocks ----

    def held(self, value: object) -> ast.expr:
        """Return an expression for an object: a name in the new function's globals."""
        name = f"<{getattr(value, '__name__', 'object')} {len(self.namespace)}>"
        self.namespace[name] = value
        return ast.Name(name, ast.Load())

    def do(self, function: Callable[..., Any], *arguments: ast.expr) -> ast.Call:
        return ast.Call(self.held(function), list(arguments), [])

    def temporary(self) -> str:
        self.temporaries += 1
        return f"<temporary {self.temporaries}>"

    def where(self, node: ast.AST) -> ast.expr:
        return self.held(access_location(self.source, node))

    def coerced(self, value: ast.expr, to: ParameterType | None) -> ast.expr:
        return value if to is None else self.do(calls.coerced, value, self.held(to))

    @contextmanager
    def inside(self, names: set[str] | frozenset[str], waits: bool = False) -> Iterator[None]:
        """Enter an inner scope with these locals; threads can wait only in nested functions."""
        outer = self.locals, self.own, self.waits
        self.locals, self.own = self.locals | names, frozenset(names)
        self.waits = self.waits and waits
        try:
            yield
        finally:
            self.locals, self.own, self.waits = outer

    # ---- expressions ----

    def expression(self, node: ast.expr) -> ast.expr:
        found = self.static_object(node)
        if found is not NOT_STATIC:
            return self.do(calls.read, self.held(found)) if _is_read(found) else self.held(found)
        constant = self.constants.of(node)
        if constant is not None:
            return self.held(constant)
        match node:
            case ast.Name(id=name) if name in self.locals:
                return ast.Name(name, ast.Load())
            case ast.Name(id=name):
                return self.do(calls.undefined, ast.Constant(name), self.where(node))
            case ast.Attribute(value=owner, attr=attr):
                return self.do(calls.attribute, self.expression(owner), ast.Constant(attr))
            case ast.BinOp():
                return self.binary(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Not(), self.expression(operand))
            case ast.UnaryOp(op=op, operand=operand):
                compute = self.arithmetic(UNARY_BY_NODE[type(op)].reference)
                return self.do(compute, self.expression(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                joined = self.join_types.get(id(node))
                return ast.BoolOp(op, [self.coerced(self.expression(v), joined) for v in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                arms = self.expression(body), self.expression(orelse)
                chosen = ast.IfExp(self.expression(test), *arms)
                return self.coerced(chosen, self.join_types.get(id(node)))
            case ast.Subscript(value=owner, slice=index):
                element = self.expression(owner), self.index(index)
                found = self.do(elements.load, *element, self.where(node))
                return self.coerced(found, self.join_types.get(id(node)))
            case ast.Call():
                return self.call(node)
            case _:
                return self.structured(node)

    def structured(self, node: ast.expr) -> ast.expr:
        """Rewrite a tuple, a function or an f-string."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return ast.Tuple([self.expression(item) for item in items], ast.Load())
            case ast.Starred(value=value):
                return ast.Starred(self.expression(value), ast.Load())
            case ast.NamedExpr(target=target, value=value):
                return ast.NamedExpr(target, self.assigned(target, self.expression(value)))
            case ast.Lambda(args=arguments, body=body):
                new = self.arguments(arguments)
                with self.inside(set(bindings(node)), waits=True):
                    return ast.Lambda(new, self.expression(body))
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node)
            case ast.JoinedStr(values=parts):
                return ast.JoinedStr([self.text(part) for part in parts])
            case _:
                raise elements.UnsupportedByReference(
                    f"{type(node).__name__} is not in the kernel language"
                )

    def assigned(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """Return a value converted for the variable it is assigned to; subclasses override this."""
        return value

    def text(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.FormattedValue):
            return part
        spec = part.format_spec
        inner = None
        if isinstance(spec, ast.JoinedStr):
            inner = ast.JoinedStr([self.text(p) for p in spec.values])
        return ast.FormattedValue(self.expression(part.value), part.conversion, inner)

    def arguments(self, given: ast.arguments) -> ast.arguments:
        """Return parameters with rewritten defaults, which the enclosing scope evaluates."""
        new = copy.copy(given)
        new.defaults = [self.expression(d) for d in given.defaults]
        new.kw_defaults = [None if d is None else self.expression(d) for d in given.kw_defaults]
        plain = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        for parameter in plain:
            parameter.annotation = None
        return new

    def lazily(self, node: ast.expr, decides: bool) -> ast.expr:
        """Return the argument of any() or all(), which stops at an item that is ``decides``."""
        if not isinstance(node, ast.GeneratorExp):
            return self.expression(node)
        if self.may_synchronize_in(node):
            return self.collected(node.generators, node.elt, decides)
        return self.comprehension(node, ast.GeneratorExp)

    def may_synchronize_in(self, node: ast.ListComp | ast.GeneratorExp) -> bool:
        """Return whether a comprehension may wait for other threads and must become a loop."""
        calls_in = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        if not self.waits or any(_names(g.target) is None for g in node.generators):
            return False
        targets = [self.static_object(call.func) for call in calls_in]
        return any(t is NOT_STATIC or self.functions.waits(t) for t in targets)

    def collected(
        self, generators: list[ast.comprehension], elt: ast.expr, decides: bool | None
    ) -> ast.expr:
        """Return a loop that calls a function for each item: comprehensions cannot yield."""
        first, *rest = generators
        names = _names(first.target)
        assert names is not None
        items = self.expression(first.iter)
        with self.inside(set(names), waits=True):
            made = self.collected(rest, elt, decides) if rest else self.expression(elt)
            for test in reversed(first.ifs):
                made = ast.IfExp(self.expression(test), made, self.held(SKIPPED))
        given = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        flags = (isinstance(first.target, ast.Tuple), bool(rest), decides)
        loop = self.do(collect, items, ast.Lambda(given, made), *map(ast.Constant, flags))
        return ast.YieldFrom(loop)

    def comprehension(
        self,
        node: ast.ListComp | ast.GeneratorExp,
        made: type[ast.ListComp | ast.GeneratorExp] = ast.ListComp,
    ) -> ast.expr:
        if self.may_synchronize_in(node):
            return self.collected(node.generators, node.elt, None)
        first = self.expression(node.generators[0].iter)
        with self.inside(comprehension_targets(node)):
            generators = []
            for position, old in enumerate(node.generators):
                source = first
                if position:
                    source = self.expression(old.iter)
                tests = [self.expression(test) for test in old.ifs]
                generators.append(ast.comprehension(old.target, source, tests, 0))
            found = made(self.expression(node.elt), generators)
        return found if made is ast.GeneratorExp else self.do(tuple, found)

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrite a subscript; slices become objects."""
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [
                    ast.Constant(None) if b is None else self.expression(b)
                    for b in (lower, upper, step)
                ]
                return self.do(elements.make_slice, *bounds)
            case ast.Tuple(elts=items):
                return ast.Tuple([self.index(item) for item in items], ast.Load())
            case _:
                return self.expression(node)

    def static_object(self, node: ast.expr) -> Any:
        """Return the object that an expression names before the kernel runs, or NOT_STATIC."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name not in self.locals and name in self.free:
                return calls.canonical_object(self.free[name])
            case ast.Attribute(value=owner, attr=attr):
                found = self.static_object(owner)
                if calls.is_data(found):
                    return NOT_STATIC
                return calls.canonical_object(getattr(found, attr, NOT_STATIC))
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                found = self.static_object(owner)
                is_one = isinstance(found, EnumMeta) and name in found.__members__
                return found[name] if is_one else NOT_STATIC
            case _:
                return NOT_STATIC

    def binary(self, node: ast.BinOp) -> ast.expr:
        combine = calls.binary_operation(BINARY_BY_NODE[type(node.op)])
        if isinstance(node.op, ast.Pow) and self.constants.of(node.right) is not None:
            combine = calls.power_of_constant
        combine = self.arithmetic(combine)
        return self.do(combine, self.expression(node.left), self.expression(node.right))

    def compare(self, node: ast.Compare) -> ast.expr:
        """Rewrite ``a < b < c`` as ``lt(a, (t := b)) and lt(t, c)``."""
        left = self.expression(node.left)
        parts: list[ast.expr] = []
        for position, (op, operand) in enumerate(zip(node.ops, node.comparators)):
            right = following = self.expression(operand)
            if position + 1 < len(node.ops):
                name = self.temporary()
                right = ast.NamedExpr(ast.Name(name, ast.Store()), right)
                following = ast.Name(name, ast.Load())
            compare = self.arithmetic(calls.comparison(type(op)))
            parts.append(self.do(compare, left, right))
            left = following
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    # ---- calls ----

    def call(self, node: ast.Call) -> ast.expr:
        target = self.static_object(node.func)
        if power := self.constants.power(node):
            return self.binary(power)
        lazy = target is any or target is all
        arguments = [
            self.lazily(a, target is any) if lazy else self.expression(a) for a in node.args
        ]
        named = [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]
        is_method = target is tiled_partition or calls.is_number_method(target)
        if target is not NOT_STATIC and not is_method:
            function, waits = self.callee(target, node, self.source)
            return self.awaited(ast.Call(self.held(function), arguments, named), waits)
        operands = [self.expression(node.func), *arguments]  # a function in a variable
        return self.awaited(ast.Call(self.held(self.dynamic(node)), operands, named), True)

    def awaited(self, call: ast.expr, waits: bool) -> ast.expr:
        """Return a call that may wait for other threads, with ``yield from`` where that is
        possible.
        """
        if not waits:
            return call
        return ast.YieldFrom(call) if self.waits else self.do(calls.run_without_waiting, call)

    def dynamic(self, node: ast.Call) -> Callable[..., Coroutine]:
        def call(target: Any, *given: Any, **named: Any) -> Coroutine:
            if calls.is_number_method(target):
                return target(*map(calls.numpy_type, given), **named)
            if calls.is_local_function(target):
                result = target(*given, **named)
                return (yield from result) if isgenerator(result) else result
            target = method_of(target, given)
            if isinstance(target, MethodType):  # of a thread group
                given, target = (target.__self__, *given), target.__func__
            function, waits = self.callee(calls.canonical_object(target), node, self.source)
            result = function(*given, **named)
            return (yield from result) if waits else result

        return call


def _names(target: ast.expr) -> list[str] | None:
    """Return the names that a comprehension's target binds; None for nested targets."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else None


def _is_read(value: object) -> bool:
    """Return whether the value of an object differs between threads."""
    intrinsic = bound_to(value)
    return isinstance(value, tuple) or (intrinsic is not None and intrinsic.is_attribute)

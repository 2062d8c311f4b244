"""Rewrite expressions of a kernel to Python expressions with the kernel's semantics.

``x * 2`` becomes a call of the operator's reference; ``a[i]`` a checked load. Locals keep their
names.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import EnumMeta
from inspect import isgenerator
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType
from pycu2c.frontend.scope.bindings import bindings, comprehension_targets
from pycu2c.interpreter.scheduler import Coroutine
from pycu2c.ops.intrinsics.registry import bound_to
from pycu2c.ops.intrinsics.threads.cooperative_groups import tiled_partition
from pycu2c.ops.operators import BINARY_BY_NODE, UNARY_BY_NODE
from support.ast_interpreter import calls as calls
from support.ast_interpreter import elements as elements
from support.ast_interpreter import operators as operators
from support.ast_interpreter.barriers import SKIPPED, collect
from support.ast_interpreter.exact_constants import ConstantFolder
from support.ast_interpreter.weak_floats import ReferenceTypes

# callee, call node, enclosing source -> function to call; whether it is a generator function
Callee: TypeAlias = Callable[[object, ast.Call, Source], tuple[Callable[..., Any], bool]]


@dataclass(frozen=True, slots=True)
class FunctionProperties:
    """Properties of the functions that a kernel names.

    ``callee``: returns the function to call. ``communicates``: whether an object communicates
    through memory. ``may_wait``: whether threads may wait in it. ``checked``: whether an exception
    in a thread fails the launch.
    """

    callee: Callee
    communicates: Callable[[object], bool]
    may_wait: Callable[[object], bool]
    checked: bool = False


class _NotStatic:
    """The result for an expression that does not name an object known before the launch."""


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
        free_objects: Mapping[str, Any],
    ) -> None:
        self.source = source
        self.join_types = inferred.join_types
        self.arithmetic = inferred.arithmetic
        self.make_function = inferred.make_function
        self.functions = functions
        self.callee = functions.callee
        self.free_objects = free_objects
        self.namespace: dict[str, Any] = {}
        code = source.python.__code__
        self.locals: set[str] = set(code.co_varnames + code.co_cellvars)
        self.scope_locals = frozenset(self.locals)  # locals of the current scope
        self.constants = ConstantFolder(self.static_object)
        self.temporaries = 0
        self.may_wait = True  # whether the current code may wait for other threads

    # ---- building blocks ----

    def object_name(self, value: object) -> ast.expr:
        """Return an expression for an object: a name in the new function's globals."""
        name = f"<{getattr(value, '__name__', 'object')} {len(self.namespace)}>"
        self.namespace[name] = value
        return ast.Name(name, ast.Load())

    def build_call(self, function: Callable[..., Any], *arguments: ast.expr) -> ast.Call:
        return ast.Call(self.object_name(function), list(arguments), [])

    def temporary(self) -> str:
        self.temporaries += 1
        return f"<temporary {self.temporaries}>"

    def location_of(self, node: ast.AST) -> ast.expr:
        return self.object_name(access_location(self.source, node))

    def coerced(self, value: ast.expr, target_type: ParameterType | None) -> ast.expr:
        if target_type is None:
            return value
        return self.build_call(operators.coerced, value, self.object_name(target_type))

    @contextmanager
    def inner_scope(
        self, names: set[str] | frozenset[str], may_wait: bool = False
    ) -> Iterator[None]:
        """Enter an inner scope with these locals; threads can wait only in nested functions."""
        outer_state = self.locals, self.scope_locals, self.may_wait
        self.locals, self.scope_locals = self.locals | names, frozenset(names)
        self.may_wait = self.may_wait and may_wait
        try:
            yield
        finally:
            self.locals, self.scope_locals, self.may_wait = outer_state

    # ---- expressions ----

    def expression(self, node: ast.expr) -> ast.expr:
        static_value = self.static_object(node)
        if static_value is not NOT_STATIC:
            if _is_thread_dependent(static_value):
                return self.build_call(calls.read, self.object_name(static_value))
            return self.object_name(static_value)
        constant = self.constants.fold(node)
        if constant is not None:
            return self.object_name(constant)
        match node:
            case ast.Name(id=name) if name in self.locals:
                return ast.Name(name, ast.Load())
            case ast.Name(id=name):
                return self.build_call(
                    calls.raise_undefined, ast.Constant(name), self.location_of(node)
                )
            case ast.Attribute(value=owner, attr=attr):
                return self.build_call(calls.attribute, self.expression(owner), ast.Constant(attr))
            case ast.BinOp():
                return self.binary(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Not(), self.expression(operand))
            case ast.UnaryOp(op=op, operand=operand):
                compute = self.arithmetic(UNARY_BY_NODE[type(op)].reference)
                return self.build_call(compute, self.expression(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                joined_type = self.join_types.get(node)
                return ast.BoolOp(
                    op, [self.coerced(self.expression(v), joined_type) for v in values]
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                arms = self.expression(body), self.expression(orelse)
                selected = ast.IfExp(self.expression(test), *arms)
                return self.coerced(selected, self.join_types.get(node))
            case ast.Subscript(value=owner, slice=index):
                load_arguments = self.expression(owner), self.index(index)
                loaded = self.build_call(elements.load, *load_arguments, self.location_of(node))
                return self.coerced(loaded, self.join_types.get(node))
            case ast.Call():
                return self.call(node)
            case _:
                return self.compound(node)

    def compound(self, node: ast.expr) -> ast.expr:
        """Rewrite tuples, ``:=``, lambdas, comprehensions and f-strings; reject other nodes."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return ast.Tuple([self.expression(item) for item in items], ast.Load())
            case ast.Starred(value=value):
                return ast.Starred(self.expression(value), ast.Load())
            case ast.NamedExpr(target=target, value=value):
                return ast.NamedExpr(
                    target, self.convert_for_target(target, self.expression(value))
                )
            case ast.Lambda(args=arguments, body=body):
                new = self.rewrite_arguments(arguments)
                with self.inner_scope(set(bindings(node)), may_wait=True):
                    return ast.Lambda(new, self.expression(body))
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node)
            case ast.JoinedStr(values=parts):
                return ast.JoinedStr([self.fstring_part(part) for part in parts])
            case _:
                raise elements.UnsupportedByReferenceError(
                    f"{type(node).__name__} is not in the kernel language"
                )

    def convert_for_target(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """Return a value converted for the variable it is assigned to; subclasses override this."""
        return value

    def fstring_part(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.FormattedValue):
            return part
        spec = part.format_spec
        inner = None
        if isinstance(spec, ast.JoinedStr):
            inner = ast.JoinedStr([self.fstring_part(p) for p in spec.values])
        return ast.FormattedValue(self.expression(part.value), part.conversion, inner)

    def rewrite_arguments(self, signature: ast.arguments) -> ast.arguments:
        """Return parameters with rewritten defaults, which the enclosing scope evaluates."""
        new = copy.copy(signature)
        new.defaults = [self.expression(d) for d in signature.defaults]
        new.kw_defaults = [None if d is None else self.expression(d) for d in signature.kw_defaults]
        parameters = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
        for parameter in parameters:
            parameter.annotation = None
        return new

    def lazy_items(self, node: ast.expr, stop_truth: bool) -> ast.expr:
        """Return the argument of any() or all().

        ``stop_truth``: any() stops at the first true item, all() at the first false one.
        """
        if not isinstance(node, ast.GeneratorExp):
            return self.expression(node)
        if self.may_synchronize_in(node):
            return self.collecting_loop(node.generators, node.elt, stop_truth)
        return self.comprehension(node, ast.GeneratorExp)

    def may_synchronize_in(self, node: ast.ListComp | ast.GeneratorExp) -> bool:
        """Return whether a comprehension may wait for other threads and must become a loop."""
        call_nodes = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        if not self.may_wait or any(_target_names(g.target) is None for g in node.generators):
            return False
        targets = [self.static_object(call.func) for call in call_nodes]
        return any(t is NOT_STATIC or self.functions.may_wait(t) for t in targets)

    def collecting_loop(
        self, generators: list[ast.comprehension], elt: ast.expr, stop_truth: bool | None
    ) -> ast.expr:
        """Return a loop that calls a function for each item: comprehensions cannot yield."""
        first, *rest = generators
        names = _target_names(first.target)
        assert names is not None
        items = self.expression(first.iter)
        with self.inner_scope(set(names), may_wait=True):
            item = self.collecting_loop(rest, elt, stop_truth) if rest else self.expression(elt)
            for test in reversed(first.ifs):
                item = ast.IfExp(self.expression(test), item, self.object_name(SKIPPED))
        parameters = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        flags = (isinstance(first.target, ast.Tuple), bool(rest), stop_truth)
        loop = self.build_call(
            collect, items, ast.Lambda(parameters, item), *map(ast.Constant, flags)
        )
        return ast.YieldFrom(loop)

    def comprehension(
        self,
        node: ast.ListComp | ast.GeneratorExp,
        node_type: type[ast.ListComp | ast.GeneratorExp] = ast.ListComp,
    ) -> ast.expr:
        if self.may_synchronize_in(node):
            return self.collecting_loop(node.generators, node.elt, None)
        first = self.expression(node.generators[0].iter)
        with self.inner_scope(comprehension_targets(node)):
            generators = []
            for position, generator in enumerate(node.generators):
                iterable = first
                if position:
                    iterable = self.expression(generator.iter)
                tests = [self.expression(test) for test in generator.ifs]
                generators.append(ast.comprehension(generator.target, iterable, tests, 0))
            result = node_type(self.expression(node.elt), generators)
        return result if node_type is ast.GeneratorExp else self.build_call(tuple, result)

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrite a subscript; slices become objects."""
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [
                    ast.Constant(None) if b is None else self.expression(b)
                    for b in (lower, upper, step)
                ]
                return self.build_call(elements.make_slice, *bounds)
            case ast.Tuple(elts=items):
                return ast.Tuple([self.index(item) for item in items], ast.Load())
            case _:
                return self.expression(node)

    def static_object(self, node: ast.expr) -> Any:
        """Return the object that an expression names before the kernel runs, or NOT_STATIC."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name not in self.locals and name in self.free_objects:
                return calls.canonical_object(self.free_objects[name])
            case ast.Attribute(value=owner, attr=attr):
                value = self.static_object(owner)
                if calls.is_data(value):
                    return NOT_STATIC
                return calls.canonical_object(getattr(value, attr, NOT_STATIC))
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                value = self.static_object(owner)
                is_member = isinstance(value, EnumMeta) and name in value.__members__
                return value[name] if is_member else NOT_STATIC
            case _:
                return NOT_STATIC

    def binary(self, node: ast.BinOp) -> ast.expr:
        combine = operators.binary_operation(BINARY_BY_NODE[type(node.op)])
        if isinstance(node.op, ast.Pow) and self.constants.fold(node.right) is not None:
            combine = operators.power_of_constant
        combine = self.arithmetic(combine)
        return self.build_call(combine, self.expression(node.left), self.expression(node.right))

    def compare(self, node: ast.Compare) -> ast.expr:
        """Rewrite ``a < b < c`` as ``lt(a, (t := b)) and lt(t, c)``."""
        left = self.expression(node.left)
        comparisons: list[ast.expr] = []
        for position, (op, operand) in enumerate(zip(node.ops, node.comparators)):
            right = next_left = self.expression(operand)
            if position + 1 < len(node.ops):
                name = self.temporary()
                right = ast.NamedExpr(ast.Name(name, ast.Store()), right)
                next_left = ast.Name(name, ast.Load())
            compare = self.arithmetic(operators.comparison(type(op)))
            comparisons.append(self.build_call(compare, left, right))
            left = next_left
        return comparisons[0] if len(comparisons) == 1 else ast.BoolOp(ast.And(), comparisons)

    # ---- calls ----

    def call(self, node: ast.Call) -> ast.expr:
        target = self.static_object(node.func)
        if power := self.constants.power(node):
            return self.binary(power)
        is_lazy = target is any or target is all
        arguments = [
            self.lazy_items(a, target is any) if is_lazy else self.expression(a) for a in node.args
        ]
        keywords = [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]
        needs_dynamic_dispatch = target is tiled_partition or calls.is_converting_method(target)
        if target is not NOT_STATIC and not needs_dynamic_dispatch:
            function, may_wait = self.callee(target, node, self.source)
            return self.with_yield_from(
                ast.Call(self.object_name(function), arguments, keywords), may_wait
            )
        operands = [self._called(node.func), *arguments]  # a function in a variable
        return self.with_yield_from(
            ast.Call(self.object_name(self.dynamic_call(node)), operands, keywords), True
        )

    def _called(self, node: ast.expr) -> ast.expr:
        """Return a called expression; Python runs ``maker(10)`` of ``maker(10)(x)``."""
        maker = self.static_object(node.func) if isinstance(node, ast.Call) else NOT_STATIC
        if not isinstance(node, ast.Call) or not isinstance(maker, FunctionType):
            return self.expression(node)
        make = self.object_name(functools.partial(self.make_function, maker))
        keywords = [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]
        return ast.Call(make, [self.expression(a) for a in node.args], keywords)

    def with_yield_from(self, call: ast.expr, may_wait: bool) -> ast.expr:
        """Return a call that may wait for other threads, with ``yield from`` where that is
        possible.
        """
        if not may_wait:
            return call
        if self.may_wait:
            return ast.YieldFrom(call)
        return self.build_call(calls.run_without_waiting, call)

    def dynamic_call(self, node: ast.Call) -> Callable[..., Coroutine]:
        """Return a function that calls a target that is known only at run time."""

        def call(target: Any, *arguments: Any, **keywords: Any) -> Coroutine:
            if calls.is_converting_method(target):
                return target(*map(calls.numpy_type, arguments), **keywords)
            if calls.is_local_function(target):
                result = target(*arguments, **keywords)
                return (yield from result) if isgenerator(result) else result
            target = calls.method_of(target, arguments)
            if isinstance(target, MethodType):  # of a thread group
                arguments, target = (target.__self__, *arguments), target.__func__
            function, may_wait = self.callee(calls.canonical_object(target), node, self.source)
            result = function(*arguments, **keywords)
            return (yield from result) if may_wait else result

        return call


def _target_names(target: ast.expr) -> list[str] | None:
    """Return the names that a comprehension's target binds; None for nested targets."""
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    return names if len(names) == len(targets) else None


def _is_thread_dependent(value: object) -> bool:
    """Return whether the value of an object differs between threads."""
    intrinsic = bound_to(value)
    return isinstance(value, tuple) or (intrinsic is not None and intrinsic.is_special_register)

"""A kernel's syntax tree -> the tree of a Python generator function with the kernel's meaning.

``a[i] += x * 2`` becomes calls that do it as the kernel language says: ``store(a, i,
add(load(a, i), mul(x, 2)))``. Control flow, names of locals and line numbers stay the user's.
Knows syntax; what the calls do is in reference_calls.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import ChainMap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeAlias

from pycu2c.intrinsics.dtype_names import scalar_named
from pycu2c.intrinsics.registry import bound_to
from pycu2c.operators import BY_NODE, UNARY_BY_NODE
from pycu2c.runtime import reference_calls as calls
from pycu2c.source import Source
from pycu2c.types import Scalar
from pycu2c.values import convert, scalar_of

# callee, the call's node, what it stands in -> what to call; whether that is a generator function
Callee: TypeAlias = Callable[[object, ast.Call, Source], tuple[Callable[..., Any], bool]]


class _Unknown:
    """What an expression is that depends on a local."""


UNKNOWN = _Unknown()


def rewritten(
    source: Source,
    local_types: Mapping[int, Scalar],
    join_types: Mapping[int, Scalar],
    callee: Callee,
) -> Callable[..., calls.Steps]:
    """The generator function of a kernel or device function; its globals are read here, once."""
    rewriter = _Rewriter(source, local_types, join_types, callee)
    module = ast.Module([rewriter.function()], type_ignores=[])
    code = compile(ast.fix_missing_locations(module), source.file, "exec")
    exec(code, rewriter.namespace)
    function: Callable[..., calls.Steps] = rewriter.namespace[source.name]
    return function


def place(source: Source, node: ast.AST) -> str:
    """``file:line``, for errors."""
    return f"{source.file}:{getattr(node, 'lineno', source.tree.lineno)}"


def _globals_of(function: FunctionType) -> Mapping[str, Any]:
    """What the free names of a function are bound to."""
    closure = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return ChainMap(closure, function.__globals__, vars(builtins))


class _Rewriter:
    """One function. Names that no Python source can have hold what the new code refers to."""

    def __init__(
        self,
        source: Source,
        local_types: Mapping[int, Scalar],
        join_types: Mapping[int, Scalar],
        callee: Callee,
    ) -> None:
        self.source = source
        self.local_types = local_types
        self.join_types = join_types
        self.callee = callee
        self.namespace: dict[str, Any] = {}
        self.free = _globals_of(source.python)
        code = source.python.__code__
        self.locals = frozenset(code.co_varnames + code.co_cellvars)
        self.temporaries = 0

    # ---- building blocks ----

    def held(self, value: object) -> ast.expr:
        """An expression for an object: a name of the new function's globals."""
        name = f"<{getattr(value, '__name__', 'object')} {len(self.namespace)}>"
        self.namespace[name] = value
        return ast.Name(name, ast.Load())

    def do(self, function: Callable[..., Any], *arguments: ast.expr) -> ast.Call:
        return ast.Call(self.held(function), list(arguments), [])

    def temporary(self) -> str:
        self.temporaries += 1
        return f"<temporary {self.temporaries}>"

    def where(self, node: ast.AST) -> ast.expr:
        return ast.Constant(place(self.source, node))

    def coerced(self, value: ast.expr, to: Scalar | None) -> ast.expr:
        return value if to is None else self.do(calls.coerced, value, self.held(to))

    # ---- the function ----

    def function(self) -> ast.FunctionDef:
        tree = self.source.tree
        parameters = [ast.arg(a.arg) for a in tree.args.args]
        new = copy.copy(tree)
        new.args = ast.arguments([], parameters, None, [], [], None, [])
        new.decorator_list, new.returns = [], None
        new.body = [
            *self.zeros({a.arg for a in parameters}),
            *self.parameters(),
            *self.block(tree.body),
            ast.Return(ast.Constant(None)),
            ast.Expr(ast.Yield(None)),  # never reached: makes it a generator function
        ]
        return new

    def zeros(self, parameters: set[str]) -> list[ast.stmt]:
        """A variable that a path has not assigned reads 0."""
        types: dict[str, set[Scalar | None]] = {}
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                types.setdefault(node.id, set()).add(self.local_types.get(id(node)))
        zeros: list[ast.stmt] = []
        for name in types.keys() - parameters:
            only = types[name].pop() if len(types[name]) == 1 else None
            zero = self.held(0 if only is None else convert(0, only))
            zeros.append(ast.Assign([ast.Name(name, ast.Store())], zero))
        return zeros

    def parameters(self) -> list[ast.stmt]:
        """A parameter that is assigned again has the joined type from the start."""
        return [
            ast.Assign(
                [ast.Name(a.arg, ast.Store())],
                self.coerced(ast.Name(a.arg, ast.Load()), self.local_types[id(a)]),
            )
            for a in self.source.tree.args.args
            if id(a) in self.local_types
        ]

    # ---- statements ----

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new = [self.placed(s, at) for at in body for s in self.statement(at)]
        return new or [ast.Pass()]

    def placed(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        """Errors show the line of the statement that the new one stands for."""
        return ast.fix_missing_locations(ast.copy_location(new, old))

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=targets, value=value):
                return self.assign(targets, self.expression(value))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                wanted = scalar_named(self.known(node.annotation))
                return self.assign([target], self.coerced(self.expression(value), wanted))
            case ast.AugAssign():
                return self.augmented(node)
            case ast.If(test=test, body=body, orelse=orelse):
                other = self.block(orelse) if orelse else []
                return [ast.If(self.expression(test), self.block(body), other)]
            case ast.While(test=test, body=body):
                return [ast.While(self.expression(test), self.block(body), [])]
            case ast.For():
                return self.counted(node)
            case ast.Return(value=value) if value is not None:
                result = self.coerced(self.expression(value), self.join_types.get(id(node)))
                return [ast.Return(result)]
            case ast.Expr(value=ast.Constant()) | ast.AnnAssign():
                return []
            case ast.Expr(value=value):
                return [ast.Expr(self.expression(value))]
            case ast.Return() | ast.Break() | ast.Continue() | ast.Pass():
                return [copy.copy(node)]
            case _:
                raise calls.Outside(f"{type(node).__name__} is not in the kernel language")

    def assign(self, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """The value first, then the targets from left to right."""
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            return [self.assign_name(targets[0], value)]
        name = self.temporary()
        stored: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
        for target in targets:
            stored += self.assign_target(target, ast.Name(name, ast.Load()))
        return stored

    def assign_name(self, target: ast.Name, value: ast.expr) -> ast.stmt:
        typed = self.coerced(value, self.local_types.get(id(target)))
        return ast.Assign([ast.Name(target.id, ast.Store())], typed)

    def assign_target(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name():
                return [self.assign_name(target, value)]
            case ast.Subscript(value=array, slice=index):
                element = self.expression(array), self.expression(index)
                return [ast.Expr(self.do(calls.store, *element, value, self.where(target)))]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                stored = []
                for position, item in enumerate(items):
                    part = ast.Subscript(value, ast.Constant(position), ast.Load())
                    stored += self.assign_target(item, part)
                return stored
            case _:
                raise calls.Outside("a kernel assigns to names, elements and tuples of these")

    def augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        target, combine = node.target, BY_NODE[type(node.op)].reference
        right = self.expression(node.value)
        if isinstance(target, ast.Name):
            return [
                self.assign_name(target, self.do(combine, ast.Name(target.id, ast.Load()), right))
            ]
        assert isinstance(target, ast.Subscript)
        array, index, where = self.temporary(), self.temporary(), self.where(target)
        element = (ast.Name(array, ast.Load()), ast.Name(index, ast.Load()))
        old = self.do(calls.load, *element, where)
        return [
            ast.Assign([ast.Name(array, ast.Store())], self.expression(target.value)),
            ast.Assign([ast.Name(index, ast.Store())], self.expression(target.slice)),
            ast.Expr(self.do(calls.store, *element, self.do(combine, old, right), where)),
        ]

    def counted(self, node: ast.For) -> list[ast.stmt]:
        """``for i in range(n)``, with ``i`` in its variable's type."""
        assert isinstance(node.target, ast.Name)
        name = self.temporary()
        first = self.assign_name(node.target, ast.Name(name, ast.Load()))
        body = [first, *self.block(node.body)]
        return [ast.For(ast.Name(name, ast.Store()), self.expression(node.iter), body, [])]

    # ---- expressions ----

    def expression(self, node: ast.expr) -> ast.expr:
        known = self.known(node)
        if known is not UNKNOWN:
            return self.do(calls.read, self.held(known)) if _is_read(known) else self.held(known)
        match node:
            case ast.Name(id=name) if name in self.locals:
                return ast.Name(name, ast.Load())
            case ast.Name(id=name):
                return self.do(calls.undefined, ast.Constant(name), self.where(node))
            case ast.Attribute(value=owner, attr=attr):
                return self.do(calls.attribute, self.expression(owner), ast.Constant(attr))
            case ast.BinOp():
                return self.binary(node)
            case ast.UnaryOp(op=op, operand=operand):
                return self.do(UNARY_BY_NODE[type(op)].reference, self.expression(operand))
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
                element = self.expression(owner), self.expression(index)
                return self.do(calls.load, *element, self.where(node))
            case ast.Tuple(elts=items):
                return ast.Tuple([self.expression(item) for item in items], ast.Load())
            case ast.Call():
                return self.call(node)
            case _:
                raise calls.Outside(f"{type(node).__name__} is not in the kernel language")

    def known(self, node: ast.expr) -> Any:
        """The object that an expression names before the kernel runs, or UNKNOWN."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name not in self.locals and name in self.free:
                return calls.static(self.free[name])
            case ast.Attribute(value=owner, attr=attr):
                return calls.static(getattr(self.known(owner), attr, UNKNOWN))
            case _:
                return UNKNOWN

    def binary(self, node: ast.BinOp) -> ast.expr:
        combine: Callable[..., Any] = BY_NODE[type(node.op)].reference
        if isinstance(node.op, ast.Pow) and self.is_constant(node.right):
            combine = calls.power_of_constant
        return self.do(combine, self.expression(node.left), self.expression(node.right))

    def is_constant(self, node: ast.expr) -> bool:
        """Whether the compiler folds an expression to a number."""
        match node:
            case ast.UnaryOp(operand=operand):
                return self.is_constant(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_constant(left) and self.is_constant(right)
            case _:
                return scalar_of(self.known(node)) is not None

    def compare(self, node: ast.Compare) -> ast.expr:
        """``a < b < c`` is ``lt(a, (t := b)) and lt(t, c)``."""
        left = self.expression(node.left)
        parts: list[ast.expr] = []
        for position, (op, operand) in enumerate(zip(node.ops, node.comparators)):
            right = following = self.expression(operand)
            if position + 1 < len(node.ops):
                name = self.temporary()
                right = ast.NamedExpr(ast.Name(name, ast.Store()), right)
                following = ast.Name(name, ast.Load())
            parts.append(self.do(BY_NODE[type(op)].reference, left, right))
            left = following
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def call(self, node: ast.Call) -> ast.expr:
        arguments = [self.expression(a) for a in node.args]
        named = [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]
        target = self.known(node.func)
        if target is not UNKNOWN:
            function, waits = self.callee(target, node, self.source)
            made: ast.expr = ast.Call(self.held(function), arguments, named)
            return ast.YieldFrom(made) if waits else made
        chosen = [self.expression(node.func), *arguments]  # a function in a variable
        return ast.YieldFrom(ast.Call(self.held(self.dynamic(node)), chosen, named))

    def dynamic(self, node: ast.Call) -> Callable[..., calls.Steps]:
        def call(target: object, *given: Any, **named: Any) -> calls.Steps:
            function, waits = self.callee(target, node, self.source)
            result = function(*given, **named)
            return (yield from result) if waits else result

        return call


def _is_read(known: object) -> bool:
    """Whether a known object has another value for each thread."""
    row = bound_to(known)
    return isinstance(known, tuple) or (row is not None and row.is_value)

"""Translate expressions of typed IR to Python.

Operations call functions of ``operations`` and ``memory``, which are made for the types and the
place of the expression. An operation that may wait for other threads is a ``yield from``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, Array
from pycu2c.interpreter import memory, operations
from pycu2c.interpreter.memory import AccessLocation
from pycu2c.interpreter.observation import AccessSite, Observer
from pycu2c.interpreter.synchronization import synchronize
from pycu2c.ir import nodes as ir
from pycu2c.ir.expressions import Path
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.views import has_linear_start, start_indices, start_position
from pycu2c.ir.walk import path_indices
from pycu2c.ops.intrinsics.builtins import compared_as_float
from pycu2c.ops.intrinsics.memory.subscripts import from_start
from pycu2c.ops.intrinsics.threads.clusters import map_shared_rank

N = TypeVar("N", bound=ast.stmt | ast.expr)


def load_name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def store_name(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def function_name(name: str) -> str:
    """Return the name of a device function, which differs from those of variables."""
    return f"<{name}>"


def located(node: N, span: Span) -> N:
    """Set the place of a node, which tracebacks show."""
    node.lineno, node.end_lineno = span.line, span.end_line
    node.col_offset, node.end_col_offset = span.column, span.end_column
    return node


def file_line(span: Span) -> str:
    return f"{span.file}:{span.line}"


def _tuple(items: Sequence[ast.expr]) -> ast.expr:
    return ast.Tuple([*items], ast.Load())


@dataclass(slots=True, eq=False)
class ExpressionTranslator:
    """Translates the expressions of a module.

    ``namespace`` has the globals of the translated functions. ``waiting`` are the device functions
    that may wait for other threads.
    """

    waiting: frozenset[str]
    observer: Observer | None = None
    namespace: dict[str, Any] = field(default_factory=dict)
    accessed: str = ""  # the array whose indices are translated
    _names: dict[int, str] = field(default_factory=dict)  # of the objects in the namespace, by id

    def constant(self, value: object) -> ast.expr:
        """Return an expression for an object."""
        if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
            return ast.Constant(value)
        name = self._names.setdefault(id(value), f"<{len(self._names)}>")
        self.namespace[name] = value
        return load_name(name)

    def call(self, function: Callable[..., Any], *arguments: ast.expr) -> ast.expr:
        return ast.Call(self.constant(function), [*arguments], [])

    def expression(self, e: ir.Expr) -> ast.expr:
        return located(self._translated(e), e.span)

    def expressions(self, several: Sequence[ir.Expr]) -> list[ast.expr]:
        return [*map(self.expression, several)]

    def _translated(self, e: ir.Expr) -> ast.expr:
        match e:
            case ir.Const(value, scalar):
                return self.constant(operations.converter(scalar)(value))
            case ir.Var(name):
                return load_name(name)
            case ir.Unary(op, operand, scalar):
                return self.call(operations.unary(op, scalar), self.expression(operand))
            case ir.Binary(op, left, right, scalar):
                function = operations.binary(op, scalar)
                return self.call(function, self.expression(left), self.expression(right))
            case ir.Logical(op, left, right):
                operator = ast.And() if op is ir.LogicalOp.AND else ast.Or()
                return ast.BoolOp(operator, [self._condition(left), self._condition(right)])
            case ir.Select(condition, then, orelse):
                return ast.IfExp(*self.expressions((condition, then, orelse)))
            case ir.Cast(operand, scalar):
                return self.call(operations.converter(scalar), self.expression(operand))
            case ir.Load(array, indices):
                load = memory.loader(e.type, self.location(e.span, array))
                load = self.observed(load, e.span, array, "load")
                return self.call(load, *self.element(array, indices))
            case ir.Member(operand, name, scalar):
                return self.call(operations.member(name, scalar), self.expression(operand))
            case ir.Item(operand, index, scalar):
                function = operations.item(scalar, AccessLocation(file_line(e.span)))
                return self.call(function, self.expression(operand), self.expression(index))
            case ir.Pack(parts, scalar):
                return self.call(operations.pack(scalar), *self.expressions(parts))
            case ir.View():
                return self._view(e)
            case ir.ElementOf(array, indices, span, path):
                kind = Array(e.type.dtype, 0, "C")
                return self._view(ir.View(array, indices, (), (), (), kind, span, path))
            case ir.Dim(array, axis):
                return _axis_of(array, "shape", axis)
            case ir.Stride(array, axis):
                itemsize = ast.Attribute(load_name(array.name), "itemsize", ast.Load())
                return ast.BinOp(_axis_of(array, "strides", axis), ast.FloorDiv(), itemsize)
            case ir.Let(name, value, body):
                bound = ast.NamedExpr(store_name(name), self.expression(value))
                pair = _tuple([bound, self.expression(body)])
                return ast.Subscript(pair, ast.Constant(1), ast.Load())
            case ir.Apply():
                return self._apply(e)
            case ir.Call(function, arguments):
                called = load_name(function_name(function))
                call = ast.Call(called, self.expressions(arguments), [])
                return ast.YieldFrom(call) if function in self.waiting else call

    def _condition(self, e: ir.Expr) -> ast.expr:
        condition = self.expression(e)
        return condition if e.type == WEAK_BOOL else self.call(bool, condition)

    # ---- arrays ----

    def observed(
        self, access: Callable[..., Any], span: Span, array: ir.Var, what: str
    ) -> Callable[..., Any]:
        """Return a function that accesses an element, after it has notified the observer."""
        if self.observer is None:
            return access
        assert isinstance(array.type, Array)
        name, space = array.name.partition(".")[0], array.type.space
        site = AccessSite(span, name, space, what, array.type.dtype.size)
        notify, first = self.observer.access, int(what == "store")  # a value precedes the array

        def notify_and_access(*arguments: Any) -> Any:
            notify(site, arguments[first], arguments[first + 1])
            return access(*arguments)

        return notify_and_access

    def location(self, span: Span, array: ir.Var) -> AccessLocation:
        return AccessLocation(file_line(span), array.name.split(".")[0])

    def element(
        self, array: ir.Var, indices: tuple[ir.Expr, ...], path: Path = ()
    ) -> tuple[ast.expr, ast.expr]:
        """Return the array of an access, or of the accessed fields, and the tuple of indices."""
        assert isinstance(array.type, Array)
        is_flat = is_linear_index(array.type, indices)
        owner, rest = self._owner(array, indices, path, is_flat)
        return owner, _tuple([*self._indices(array, rest), *self.expressions(path_indices(path))])

    def _owner(
        self, array: ir.Var, indices: tuple[ir.Expr, ...], path: Path, is_flat: bool
    ) -> tuple[ast.expr, tuple[ir.Expr, ...]]:
        """Return the array of the accessed fields, and the indices without that of a block."""
        owner = load_name(array.name)
        if ir.in_cluster(array):
            rank, *others = indices
            owner = self.call(map_shared_rank.reference, owner, self.expression(rank))
            indices = tuple(others)
        if is_flat:
            owner = self.call(memory.flat, owner)
        for name in path:
            if isinstance(name, str):
                owner = self.call(memory.field_of, owner, ast.Constant(name))
        return owner, indices

    def _indices(self, array: ir.Var, indices: Sequence[ir.Expr]) -> list[ast.expr]:
        outer, self.accessed = self.accessed, array.name
        translated = self.expressions(indices)
        self.accessed = outer
        return translated

    def _view(self, e: ir.View) -> ast.expr:
        is_flat = has_linear_start(e)
        owner, _ = self._owner(e.array, e.first, e.path, is_flat)
        outside = int(ir.in_cluster(e.array))  # axes of the cluster's array, not of the block's
        positions = (
            0 if is_flat and axis >= 0 else start_position(e, k) - outside
            for k, axis in enumerate(e.axes)
        )
        location = self.location(e.span, e.array)
        build = memory.ViewBuilder(e.type.dtype.numpy, tuple(positions), location)
        starts = _tuple(self._indices(e.array, start_indices(e)[outside:]))
        steps, lengths = _tuple(self.expressions(e.steps)), _tuple(self.expressions(e.lengths))
        return self.call(build, owner, starts, steps, lengths)

    # ---- intrinsics ----

    def _apply(self, e: ir.Apply) -> ast.expr:
        if e.intrinsic in (from_start, compared_as_float):
            return self.expression(e.arguments[0])
        arguments = [a for argument in e.arguments for a in self._argument(e, argument)]
        if e.intrinsic.synchronizes:
            names = self.constant(e.intrinsic), self.constant(file_line(e.span))
            waited = ast.YieldFrom(self.call(synchronize, *names, *arguments))
            return self.call(operations.converter(e.type), waited)
        arrays = [a.array.name for a in e.arguments if isinstance(a, ir.ElementOf)]
        array_name = (arrays or [self.accessed])[0].split(".")[0]
        location = AccessLocation(file_line(e.span), array_name)
        function = operations.apply(e.intrinsic, e.type, location)
        element = e.arguments[0] if e.arguments else None
        if isinstance(element, ir.ElementOf) and len(arguments) > len(e.arguments):
            name = e.intrinsic.name.removeprefix("cuda.")
            function = self.observed(function, e.span, element.array, name)
        return self.call(function, *arguments)

    def _argument(self, e: ir.Apply, argument: ir.Expr) -> Sequence[ast.expr]:
        has_index = any(kind == "index" for _, kind in e.intrinsic.parameters)
        if not has_index or not isinstance(argument, ir.ElementOf):
            return (self.expression(argument),)
        return self.element(argument.array, argument.indices, argument.path)


def _axis_of(array: ir.Var, attribute: str, axis: int) -> ast.expr:
    values = ast.Attribute(load_name(array.name), attribute, ast.Load())
    position = axis - ir.in_cluster(array)  # the variable has the array of the own block
    return ast.Subscript(values, ast.Constant(position), ast.Load())

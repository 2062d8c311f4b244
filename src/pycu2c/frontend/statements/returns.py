"""The result type of a function, and the conversion of its ``return`` statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import NONE, Array, Constant, ParameterType, Scalar, Tuple, leaf_types
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_views import Subscript, is_record, subscript_value
from pycu2c.frontend.expressions.composite_values import (
    displayed_type,
    pack_result,
    result_type,
    unify_types,
)
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.frontend.statements import exceptions
from pycu2c.frontend.statements.branches import for_each_array
from pycu2c.frontend.value_checks import is_array
from pycu2c.frontend.values import ArraySelect, Value
from pycu2c.ir.builders import integer
from pycu2c.ir.nodes import Body, Pack, Return, Stmt, Var
from pycu2c.ir.walk import children, map_stmt, never_completes


@dataclass(frozen=True, slots=True)
class ReturnedParameter:
    """The result of a function that returns one of its array parameters: a compile-time constant.

    A call gives the array that was passed, or its row or record at ``indices``, so the generated
    function returns nothing.
    """

    name: str
    position: int
    indices: tuple[int, ...] = ()

    def __repr__(self) -> str:
        subscript = f"[{', '.join(map(str, self.indices))}]" if self.indices else ""
        return f"the array {self.name}{subscript}"

    def value(self, context: FunctionContext, arguments: Sequence[Value], span: Span) -> Value:
        """Return the result of a call."""
        array = arguments[self.position]
        if not self.indices or not (is_array(array) or isinstance(array, ArraySelect)):
            return array
        subscripts: list[Subscript] = [integer(i, span) for i in self.indices]
        return for_each_array(context, array, lambda a: subscript_value(a, subscripts, span))


# types compare objects by identity
_REPEATED: dict[tuple[str, int, tuple[int, ...]], ReturnedParameter] = {}


def parameter_of_return(context: FunctionContext, node: ast.Return) -> Constant | None:
    """Return the result type of ``return a`` for an array parameter that is never assigned.

    The same holds for ``return a[0]``, if it is a row or record.
    """
    names = [p.arg for p in parameters(context.source.tree.args)]
    value, indices = _owner_and_indices(node.value)
    if context.declared_result is not None or not isinstance(value, ast.Name):
        return None
    is_assigned = any(
        isinstance(n, ast.Name) and n.id == value.id and not isinstance(n.ctx, ast.Load)
        for n in ast.walk(context.source.tree)
    )
    if value.id not in names or is_assigned:
        return None
    array = context.value(value)
    if not isinstance(array, Var) or not isinstance(array.type, Array):
        return None
    is_number = len(indices) == array.type.ndim and not is_record(array)
    if indices and (is_number or len(indices) > array.type.ndim):
        return None
    key = value.id, names.index(value.id), indices
    return Constant(_REPEATED.setdefault(key, ReturnedParameter(*key)))


def _owner_and_indices(node: ast.expr | None) -> tuple[ast.expr | None, tuple[int, ...]]:
    """Return ``a`` and the literal indices of ``a[1, 0]``; other expressions without indices."""
    if not isinstance(node, ast.Subscript):
        return node, ()
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    try:
        values = [ast.literal_eval(item) for item in items]
    except ValueError:
        return node, ()
    has_indices = bool(values) and all(type(value) is int for value in values)
    return (node.value, tuple(values)) if has_indices else (node, ())


def returned_parameter(result: ParameterType) -> ReturnedParameter | None:
    """Return the array parameter that a function with this result type returns."""
    if isinstance(result, Tuple) and result.names == exceptions.EXIT_FIELDS:
        result = result.items[0]
    if isinstance(result, Constant) and isinstance(result.value, ReturnedParameter):
        return result.value
    return None


def check_result_type(context: FunctionContext, body: Body) -> ParameterType:
    """Return the result type; report a path without a return."""
    result = common_result_type(context) or NONE
    if result != NONE and not never_completes(body):
        text = f"and here it returns `{displayed_type(result)}`"
        fail(
            "return-type",
            Label(context.span(context.source.tree), "the function can end without a return"),
            *(Label(span, text) for _, span in context.returned_types[:1]),
            hint="end it with a return of a value",
        )
    return result


def common_result_type(context: FunctionContext) -> ParameterType | None:
    """Return the declared result type, or the common type of the results, or None."""
    result = context.declared_result
    for returned, span in context.returned_types:
        common = returned if result is None else unify_types(result, returned)
        if common is None:
            first_result, first_span = context.returned_types[0]
            fail(
                "return-type",
                Label(span, f"here `{displayed_type(returned)}`"),
                Label(first_span, f"and here `{displayed_type(first_result)}`"),
                hint="return a value of one type on every path, such as math.nan for none",
            )
        result = common
    return result


def convert_returns(context: FunctionContext, body: Body, result: ParameterType) -> Body:
    """Convert the returned values to the result type if their types differ."""
    if len({returned for returned, _ in context.returned_types}) < 2:
        return body
    number_types = [leaf for leaf in leaf_types(result) if isinstance(leaf, Scalar)]

    def convert_return(s: Stmt) -> Body:
        if not isinstance(s, Return) or s.value is None:
            return (s,)
        is_record = isinstance(s.value, Pack) and s.value.type.dtype.kind is DTypeKind.RECORD
        values = children(s.value) if is_record else (s.value,)
        numbers = [
            coerce(e, number_type) for e, number_type in zip(values, number_types, strict=True)
        ]
        return (Return(pack_result(numbers, result_type(result), s.span), s.span),)

    return map_stmt(body, convert_return)

"""Calls of functions that expand to other intrinsics with fixed types: ``libdevice.sinf``."""

from __future__ import annotations

import ast

from pycu2c.base.types import Scalar
from pycu2c.frontend.calls.builtin_arguments import argument_values
from pycu2c.frontend.calls.intrinsic_calls import intrinsic_call
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.function_context import FunctionContext, TupleValue, Value, require_number
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import Expr
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import Intrinsic, TypedOperation


def typed_call(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower a call of an intrinsic that expands to others."""
    names = tuple(name for name, _ in intrinsic.parameters)
    given = argument_values(context, node, names, intrinsic.name)
    brought = [
        _brought(require_number(v), kind) for v, (_, kind) in zip(given, intrinsic.parameters)
    ]
    if len(intrinsic.expands_to) > 1:
        brought = [require_number(materialize(context, e, "given")) for e in brought]
    results = tuple(_result(context, typed, brought, node) for typed in intrinsic.expands_to)
    return TupleValue(results, context.span(node)) if len(results) > 1 else results[0]


def _brought(e: Expr, kind: str) -> Expr:
    """Convert an argument to the parameter's type; integers keep only their bits."""
    if kind not in FIXED:
        return e
    wanted = Scalar(FIXED[kind])
    if wanted.dtype.is_integer and not scalar_type(e).dtype.is_integral:
        require_integer(e)
    return cast(e, wanted)


def _result(
    context: FunctionContext, typed: TypedOperation, given: list[Expr], node: ast.Call
) -> Expr:
    if typed.operand_types:
        given = [
            cast(e, Scalar(intrinsic))
            for e, intrinsic in zip(given, typed.operand_types, strict=True)
        ]
    if isinstance(typed.operation, Intrinsic):
        made = require_number(intrinsic_call(context, typed.operation, list(given), node))
    else:
        left, right = given
        made = arithmetic.binary(context, typed.operation, left, right, context.span(node))
    return made if typed.result_type is None else cast(made, Scalar(typed.result_type))

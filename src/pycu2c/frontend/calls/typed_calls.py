"""Calls of functions that are others with types of their own: ``libdevice.sinf``."""

from __future__ import annotations

import ast

from pycu2c.base.types import Scalar
from pycu2c.frontend.calls.builtin_arguments import values
from pycu2c.frontend.calls.intrinsic_calls import intrinsic_call
from pycu2c.frontend.evaluation_order import kept
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.arithmetic import whole_number
from pycu2c.frontend.function_context import Frame, Items, Value, number
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import Expr
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import Intrinsic, Typed


def typed_call(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """A call of a row that stands for others."""
    names = tuple(name for name, _ in row.parameters)
    given = values(frame, node, names, row.name)
    brought = [_brought(number(v), kind) for v, (_, kind) in zip(given, row.parameters)]
    if len(row.stands_for) > 1:
        brought = [number(kept(frame, e, "given")) for e in brought]
    results = tuple(_result(frame, typed, brought, node) for typed in row.stands_for)
    return Items(results, frame.span(node)) if len(results) > 1 else results[0]


def _brought(e: Expr, kind: str) -> Expr:
    """An argument in the type that the function names: only the bits of an integer count."""
    if kind not in FIXED:
        return e
    wanted = Scalar(FIXED[kind])
    if wanted.dtype.is_integer and not scalar_type(e).dtype.is_whole:
        whole_number(e)
    return cast(e, wanted)


def _result(frame: Frame, typed: Typed, given: list[Expr], node: ast.Call) -> Expr:
    if typed.takes:
        given = [cast(e, Scalar(row)) for e, row in zip(given, typed.takes, strict=True)]
    if isinstance(typed.row, Intrinsic):
        made = number(intrinsic_call(frame, typed.row, list(given), node))
    else:
        left, right = given
        made = arithmetic.binary(frame, typed.row, left, right, frame.span(node))
    return made if typed.gives is None else cast(made, Scalar(typed.gives))

"""Intrinsics that the frontend itself writes out: coordinates, arrays that a kernel makes, and
``np.clip``."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.limits import MOST_AXES
from pycu2c.base.types import WEAK_INT, Array, Space
from pycu2c.frontend.calls import group_forms, intrinsic_calls, ufuncs
from pycu2c.frontend.calls.builtin_arguments import (
    Form,
    arguments,
    constant_integer,
    known_integer,
    named_scalar,
    values,
)
from pycu2c.frontend.evaluation_order import kept
from pycu2c.frontend.expressions.array_limits import ROOM, bytes_of, too_large
from pycu2c.frontend.expressions.array_views import array_type
from pycu2c.frontend.function_context import Frame, Items, Static, Value, is_array, number, shown
from pycu2c.frontend.hints import replacements
from pycu2c.ir.builders import truth
from pycu2c.ir.nodes import Allocate, Apply, Const, Expr, Var
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.intrinsics.threads import warp


def _coordinates(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cuda.grid(ndim)``, ``cuda.gridsize(ndim)``."""
    (given,) = arguments(frame, node, ("ndim",), row.name)
    ndim = constant_integer(frame, given, f"the number of axes of {row.name}")
    if ndim not in (1, 2, 3):
        fail(
            "argument-type",
            Label(frame.span(given), f"this is {ndim}"),
            help=f"{row.name} takes the number of axes: 1, 2 or 3",
        )
    span = frame.span(node)
    axes = [Apply(REGISTRY[f"{row.name}.{a}"], (), WEAK_INT, span) for a in "xyz"[:ndim]]
    return axes[0] if ndim == 1 else Items(tuple(axes), span)


def _allocation(space: Space) -> Form:
    def build(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
        shape_node, dtype_node = arguments(frame, node, ("shape", "dtype"), row.name)
        shape = _shape(frame, shape_node, 0 if space is Space.SHARED else 1)
        scalar = named_scalar(frame, dtype_node)
        if shape == DYNAMIC and space is Space.SHARED:
            kind = Array(scalar.dtype, 1, "C", space)
        else:
            kind = Array(scalar.dtype, len(shape), "C", space, shape)
        if bytes_of(kind) > ROOM[space].most:
            too_large(kind, bytes_of(kind), frame.span(shape_node))
        var = Var(frame.name_for(node, space.value), kind, frame.span(node))
        frame.emit(Allocate(var, frame.span(node)))
        return var

    return build


_FIXED = "write a literal, a variable given only that, or a global that holds an int"
_DYNAMIC = "or 0, and say at the launch how many bytes: k[grid, block, stream, bytes]"
DYNAMIC = (0,)  # the shape of an array that takes all bytes that the launch gives


def _shape(frame: Frame, node: ast.expr, least: int) -> tuple[int, ...]:
    value = frame.value(node)
    items = value.items if isinstance(value, Items) else (value,)
    shape = []
    for item in items:
        known = known_integer(frame, item)
        if known is None or known < (least if len(items) == 1 else 1):
            here = item.span if isinstance(item, (Const, Static, Items)) else frame.span(node)
            fail(
                "shape",
                Label(here, "not a positive whole number that is known before the launch"),
                help=_FIXED if least else f"{_FIXED}; {_DYNAMIC}",
            )
        shape.append(known)
    if not 1 <= len(shape) <= MOST_AXES:
        fail(
            "shape",
            Label(frame.span(node), replacements.amount(len(shape), "axis", "axes")),
            help=f"arrays have 1 to {MOST_AXES} axes",
        )
    return tuple(shape)


def _clip(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``np.clip(x, 0, 1)``, ``np.clip(x, None, 1)``, ``np.clip(x, max=1)``."""
    also = {"min": "a_min", "max": "a_max"}
    keywords = [ast.keyword(also.get(k.arg or "", k.arg), k.value) for k in node.keywords]
    given = {k.arg for k in keywords} | set(("a", "a_min", "a_max")[: len(node.args)])
    none = ast.copy_location(ast.Constant(None), node)
    keywords += [ast.keyword(n, none) for n in ("a_min", "a_max") if n not in given]
    for old, new in zip(node.keywords, keywords):
        ast.copy_location(new, old)
    whole = ast.copy_location(ast.Call(node.func, node.args, keywords), node)
    value, least, most = values(frame, whole, ("a", "a_min", "a_max"), row.name)
    return ufuncs.clipped(number(value), _limit(least), _limit(most), frame.span(node))


def _limit(value: Value) -> Expr | None:
    is_none = isinstance(value, Static) and value.value is None
    return None if is_none else number(value)


def _constant_array(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cuda.const.array_like(TABLE)``."""
    (given,) = arguments(frame, node, ("ndarray",), row.name)
    found = frame.value(given)
    if is_array(found) and array_type(found).space is Space.CONSTANT:
        return found
    fail(
        "constant-needed",
        Label(frame.span(given), f"this is {shown(found)}"),
        help="name a numpy array that is defined outside of the kernel",
    )


def _match_all(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cuda.match_all_sync(mask, value)``: all match if there are lanes that do."""
    given = values(frame, node, ("mask", "value"), row.name)
    lanes = intrinsic_calls.intrinsic_call(frame, warp.match_all_lanes, given, node)
    kept_lanes = number(kept(frame, lanes, "lanes"))
    return Items((kept_lanes, truth(kept_lanes)), frame.span(node))


FORMS: dict[str, Form] = {
    "cuda.grid": _coordinates,
    "cuda.gridsize": _coordinates,
    "cuda.shared.array": _allocation(Space.SHARED),
    "numpy.clip": _clip,
    "cuda.local.array": _allocation(Space.LOCAL),
    "cuda.const.array_like": _constant_array,
    "cuda.match_all_sync": _match_all,
}


def form_of(row: Intrinsic) -> Form | None:
    """What writes a row out, if the frontend does."""
    if row.name.startswith("cuda.cg."):
        return group_forms.GROUP_FORMS.get(row.name)
    return FORMS.get(row.name)

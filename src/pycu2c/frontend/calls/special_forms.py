"""Intrinsics with a lowering of their own: coordinates, array allocations and ``np.clip``."""

from __future__ import annotations

import ast
from functools import partial

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.limits import MAX_AXES
from pycu2c.base.types import WEAK_INT, Array, MemorySpace
from pycu2c.frontend import hints
from pycu2c.frontend.calls import cooperative_groups, intrinsic_calls, ufuncs
from pycu2c.frontend.calls.arguments import (
    IntrinsicLowering,
    argument_nodes,
    argument_values,
    constant_int,
    named_scalar,
    require_constant_int,
)
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.expressions.array_views import array_type
from pycu2c.frontend.expressions.module_limits import (
    MEMORY_LIMITS,
    array_bytes,
    has_cuda_code,
    report_too_large,
)
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import is_array, is_none, reject, require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.builders import truth
from pycu2c.ir.nodes import Allocate, Apply, Const, Expr, Var
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.intrinsics.threads import warp


def _coordinates(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cuda.grid(ndim)`` and ``cuda.gridsize(ndim)``."""
    (argument,) = argument_nodes(context, node, ("ndim",), intrinsic.name)
    ndim = require_constant_int(context, argument, f"the number of axes of {intrinsic.name}")
    if ndim not in (1, 2, 3):
        fail(
            "argument-type",
            Label(context.span(argument), f"this is {ndim}"),
            hint=f"{intrinsic.name} takes the number of axes: 1, 2 or 3",
        )
    span = context.span(node)
    coordinates = [
        Apply(REGISTRY[f"{intrinsic.name}.{a}"], (), WEAK_INT, span) for a in "xyz"[:ndim]
    ]
    return coordinates[0] if ndim == 1 else TupleValue(tuple(coordinates), span)


def _allocation(
    space: MemorySpace, context: FunctionContext, intrinsic: Intrinsic, node: ast.Call
) -> Value:
    shape_node, dtype_node, alignment_node = argument_nodes(
        context, node, ("shape", "dtype", "alignment"), intrinsic.name, {"alignment": 0}
    )
    shape = _shape(context, shape_node, 0 if space is MemorySpace.SHARED else 1)
    scalar = named_scalar(context, dtype_node)
    alignment = _alignment(context, alignment_node)
    is_dynamic = shape == DYNAMIC_SHAPE and space is MemorySpace.SHARED
    fixed_shape = None if is_dynamic else shape
    allocated_type = Array(scalar.dtype, len(shape), "C", space, fixed_shape, alignment)
    return allocate(context, node, allocated_type, shape_node)


def allocate(
    context: FunctionContext, node: ast.Call, allocated_type: Array, shape_node: ast.expr
) -> Var:
    """Allocate a shared or local array; errors show ``shape_node``."""
    size, space = array_bytes(allocated_type), allocated_type.space
    is_too_large = size > MEMORY_LIMITS[space].max_bytes
    if is_too_large and not has_cuda_code(context.source.external_code):
        report_too_large(allocated_type, size, context.span(shape_node))
    var = Var(context.name_for(node, space.value), allocated_type, context.span(node))
    context.emit(Allocate(var, context.span(node)))
    return var


_MAX_ALIGNMENT = 1024  # of a tile that the tensor memory accelerator swizzles


def _alignment(context: FunctionContext, node: ast.expr) -> int:
    """Return the alignment of an array in bytes; 0 for that of its elements."""
    alignment = require_constant_int(context, node, "the alignment")
    if alignment and (not 0 < alignment <= _MAX_ALIGNMENT or alignment & (alignment - 1)):
        fail(
            "argument-type",
            Label(context.span(node), f"this is {alignment}"),
            hint=f"an alignment is a power of two up to {_MAX_ALIGNMENT}, in bytes",
        )
    return alignment


_LENGTH_HINT = "write a literal, a variable with one constant value, or a global int"
_DYNAMIC_HINT = "or 0, and pass the bytes at the launch: k[grid, block, stream, bytes]"
DYNAMIC_SHAPE = (0,)  # the shape of dynamic shared memory


def _shape(context: FunctionContext, node: ast.expr, min_length: int) -> tuple[int, ...]:
    value = context.value(node)
    items = value.items if isinstance(value, TupleValue) else (value,)
    shape = []
    for item in items:
        length = constant_int(context, item)
        if length is None or length < (min_length if len(items) == 1 else 1):
            is_constant = isinstance(item, (Const, StaticObject, TupleValue))
            error_span = item.span if is_constant else context.span(node)
            fail(
                "shape",
                Label(error_span, "not a positive integer that is known at compile time"),
                hint=_LENGTH_HINT if min_length else f"{_LENGTH_HINT}; {_DYNAMIC_HINT}",
            )
        shape.append(length)
    if not 1 <= len(shape) <= MAX_AXES:
        fail(
            "shape",
            Label(context.span(node), hints.count_phrase(len(shape), "axis")),
            hint=f"arrays have 1 to {MAX_AXES} axes",
        )
    return tuple(shape)


def _clip(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``np.clip(x, 0, 1)``, ``np.clip(x, None, 1)`` and ``np.clip(x, max=1)``."""
    full_names = {"min": "a_min", "max": "a_max"}
    keywords = [ast.keyword(full_names.get(k.arg or "", k.arg), k.value) for k in node.keywords]
    argument_names = {k.arg for k in keywords} | set(("a", "a_min", "a_max")[: len(node.args)])
    none_node = ast.copy_location(ast.Constant(None), node)
    keywords += [ast.keyword(n, none_node) for n in ("a_min", "a_max") if n not in argument_names]
    for old, new in zip(node.keywords, keywords):
        ast.copy_location(new, old)
    full_call = ast.copy_location(ast.Call(node.func, node.args, keywords), node)
    value, lower_limit, upper_limit = argument_values(
        context, full_call, ("a", "a_min", "a_max"), intrinsic.name
    )
    return ufuncs.clipped(
        require_number(value), _limit(lower_limit), _limit(upper_limit), context.span(node)
    )


def _limit(value: Value) -> Expr | None:
    return None if is_none(value) else require_number(value)


def _constant_array(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cuda.const.array_like(TABLE)``."""
    (argument,) = argument_nodes(context, node, ("ndarray",), intrinsic.name)
    array = context.value(argument)
    if is_array(array) and array_type(array).space is MemorySpace.CONSTANT:
        return array
    reject(
        array,
        "constant-needed",
        "name a numpy array that is defined outside of the kernel",
        context.span(argument),
    )


def _match_all(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cuda.match_all_sync(mask, value)``: all lanes match if the lane mask is not empty."""
    arguments = argument_values(context, node, ("mask", "value"), intrinsic.name)
    lanes = intrinsic_calls.intrinsic_call(context, warp.match_all_lanes, arguments, node)
    lane_mask = require_number(materialize(context, lanes, "lanes"))
    return TupleValue((lane_mask, truth(lane_mask)), context.span(node))


LOWERINGS: dict[str, IntrinsicLowering] = {
    "cuda.grid": _coordinates,
    "cuda.gridsize": _coordinates,
    "cuda.shared.array": partial(_allocation, MemorySpace.SHARED),
    "numpy.clip": _clip,
    "cuda.local.array": partial(_allocation, MemorySpace.LOCAL),
    "cuda.const.array_like": _constant_array,
    "cuda.match_all_sync": _match_all,
    **cooperative_groups.GROUP_LOWERINGS,
}

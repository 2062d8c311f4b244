"""``cuda.cg.this_cluster()``: indices within the cluster, and distributed shared memory."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import reduce
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace
from pycu2c.frontend.calls.builtin_arguments import (
    IntrinsicLowering,
    argument_nodes,
    argument_values,
)
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.expressions.array_views import array_type, has_linear_index, whole_view
from pycu2c.frontend.function_context import (
    ArraySelect,
    FunctionContext,
    StaticObject,
    TupleValue,
    Value,
    describe,
    is_array,
    require_number,
)
from pycu2c.frontend.statements import branches
from pycu2c.ir.builders import binary, cast, integer
from pycu2c.ir.nodes import Apply, Const, Expr, Var, View
from pycu2c.ir.views import add_scaled, multiply
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.clusters import PREFIX, Cluster, Extents
from pycu2c.ops.intrinsics.threads.coordinates import AXES, PLACES
from pycu2c.ops.operators import MOD


def _cluster(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cuda.cg.this_cluster()``."""
    argument_nodes(context, node, (), intrinsic.name)
    if not context.devices.cluster:
        fail(
            "cluster",
            Label(context.span(node), "the kernel declares no cluster size"),
            hint="write @kernel(cluster=2), or with up to 3 axes @kernel(cluster=(2, 2))",
        )
    return StaticObject(Cluster, context.span(node))


# ---- index of a block ---------------------------------------------------------------------------


def _coordinate(variable: str, axis: str, span: Span) -> Expr:
    return Apply(PLACES[variable, axis], (), WEAK_INT, span)


def _index(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    """Return the index of the block in its cluster."""
    sizes = zip(AXES, context.devices.cluster)
    return tuple(
        binary(MOD, _coordinate("blockIdx", axis, span), integer(size, span), span)
        if size > 1
        else integer(0, span)
        for axis, size in sizes
    )


def _linear_index(index: tuple[Expr, ...], extents: tuple[Expr, ...], span: Span) -> Expr:
    """Return ``x + width * (y + height * z)``."""
    total: Expr = integer(0, span)
    for place, extent in zip(index[::-1], extents[::-1]):
        total = add_scaled(place, extent, total)
    return total


def _extents(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    return tuple(integer(size, span) for size in context.devices.cluster)


def _rank(context: FunctionContext, span: Span) -> Expr:
    return _linear_index(_index(context, span), _extents(context, span), span)


def _block_extents(span: Span) -> tuple[Expr, ...]:
    return tuple(_coordinate("blockDim", axis, span) for axis in AXES)


def _thread_index(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    places = zip(AXES, _index(context, span), _block_extents(span))
    return tuple(add_scaled(_coordinate("threadIdx", a, span), size, at) for a, at, size in places)


def _thread_extents(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    return tuple(map(multiply, _extents(context, span), _block_extents(span)))


def _thread_rank(context: FunctionContext, span: Span) -> Expr:
    threads = tuple(_coordinate("threadIdx", axis, span) for axis in AXES)
    extents = _block_extents(span)
    inside = _linear_index(threads, extents, span)
    return add_scaled(inside, reduce(multiply, extents), _rank(context, span))


def _blocks(context: FunctionContext, span: Span) -> Expr:
    return integer(math.prod(context.devices.cluster), span)


def _threads(context: FunctionContext, span: Span) -> Expr:
    return reduce(multiply, _block_extents(span), _blocks(context, span))


def _along_axes(
    find: Callable[[FunctionContext, Span], tuple[Expr, ...]],
) -> Callable[[FunctionContext, Span], Value]:
    return lambda context, span: TupleValue(find(context, span), span, Extents._fields)


def _of_block(find: Callable[[FunctionContext, Span], Value]) -> IntrinsicLowering:
    """Return the lowering of a function without arguments."""

    def build(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
        argument_nodes(context, node, (), intrinsic.name)
        return find(context, context.span(node))

    return build


# ---- distributed shared memory -----------------------------------------------------------------


def _map(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cluster.map_shared_rank(array, rank)``."""
    array, given = argument_values(context, node, ("array", "rank"), intrinsic.name)
    rank = require_integer(require_number(given, "the rank"))
    blocks = math.prod(context.devices.cluster)
    if isinstance(rank, Const) and not 0 <= rank.value < blocks:
        fail(
            "index-range",
            Label(rank.span, f"a cluster has {blocks} blocks"),
            hint=f"write 0 to {blocks - 1}",
        )
    span = context.span(node)
    if isinstance(array, ArraySelect):
        steady = require_number(materialize(context, rank, "rank"))
        return branches.for_each_array(context, array, lambda a: _mapped(a, steady, span))
    return _mapped(array, rank, span)


def _mapped(array: Value, rank: Expr, span: Span) -> View:
    if not is_array(array):
        _reject(array, f"this is {describe(array)}")
    owner = array.array if isinstance(array, View) else array
    space = array_type(owner).space
    if space is MemorySpace.CLUSTER:
        _reject(array, "this is in another block already")
    if space is not MemorySpace.SHARED:
        _reject(array, f"`{array.type}` is not known to be in shared memory")
    view = whole_view(array, array.span)
    if has_linear_index(view):
        _reject(array, "this is an array in another shape")
    return _in_cluster(view, cast(rank, WEAK_INT), span)


def _in_cluster(view: View, rank: Expr, span: Span) -> View:
    """Return a view of one block's array as a view of the cluster's arrays."""
    theirs = Var(view.array.name, array_type(view.array).in_cluster, view.array.span)
    axes = tuple(axis + 1 for axis in view.axes)
    kind = Array(view.type.dtype, view.type.ndim, "A")
    return replace(view, array=theirs, first=(rank, *view.first), axes=axes, type=kind, span=span)


def _reject(array: Value, found: str) -> NoReturn:
    fail(
        "argument-type",
        Label(array.span, found),
        hint="map_shared_rank takes an array of cuda.shared.array(…), or a slice of it",
    )


CLUSTER_LOWERINGS: dict[str, IntrinsicLowering] = {
    PREFIX: _cluster,
    f"{PREFIX}.block_index": _of_block(_along_axes(_index)),
    f"{PREFIX}.dim_blocks": _of_block(_along_axes(_extents)),
    f"{PREFIX}.thread_index": _of_block(_along_axes(_thread_index)),
    f"{PREFIX}.dim_threads": _of_block(_along_axes(_thread_extents)),
    f"{PREFIX}.block_rank": _of_block(_rank),
    f"{PREFIX}.num_blocks": _of_block(_blocks),
    f"{PREFIX}.thread_rank": _of_block(_thread_rank),
    f"{PREFIX}.num_threads": _of_block(_threads),
    f"{PREFIX}.map_shared_rank": _map,
}

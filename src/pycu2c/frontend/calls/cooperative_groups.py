"""Lower CUDA's cooperative groups: the grid, the block, tiles of a warp, clusters of blocks.

``cuda.cg.this_cluster()`` has indices within the cluster and distributed shared memory.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import reduce
from inspect import isfunction
from typing import NoReturn, TypeGuard

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace
from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.calls.arguments import (
    IntrinsicLowering,
    argument_nodes,
    argument_values,
    require_constant_int,
)
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.expressions.array_views import array_type, has_linear_index, whole_view
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements import branches
from pycu2c.frontend.value_checks import describe, is_array, reject, require_number
from pycu2c.frontend.values import ArraySelect, StaticObject, TupleValue, Value
from pycu2c.ir.builders import binary, cast, integer
from pycu2c.ir.nodes import Apply, Const, Expr, Var, View
from pycu2c.ir.views import add_scaled, multiply
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.clusters import PREFIX, Cluster, Extents
from pycu2c.ops.intrinsics.threads.coalesced_groups import CoalescedGroup
from pycu2c.ops.intrinsics.threads.cooperative_groups import SIZES, Block, Grid, partition
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES
from pycu2c.ops.operators import MOD

GROUP_METHODS = tuple(n for n, m in vars(CoalescedGroup).items() if isfunction(m) and n[0] != "_")


def is_coalesced_group(value: Value) -> TypeGuard[TupleValue]:
    """Return whether a value is a coalesced group."""
    return isinstance(value, TupleValue) and value.names == CoalescedGroup._fields


def call_group_method(
    context: FunctionContext, group: TupleValue, name: str, node: ast.Call
) -> Value:
    """Lower ``group.name(…)``."""
    function = StaticObject(getattr(CoalescedGroup, name), context.span(node.func))
    is_evaluated = all(isinstance(item, (Var, Const)) for item in group.items)
    owner = group if is_evaluated else materialize(context, group, "group")
    assert isinstance(owner, TupleValue)
    return device_calls.call_function(context, function, node, owner)


def _tiles(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cuda.cg.tiled_partition(block, 8)``."""
    group, size_node = argument_nodes(context, node, ("group", "size"), intrinsic.name)
    size = require_constant_int(context, size_node, "the threads of a tile")
    if size not in SIZES:
        fail(
            "argument-type",
            Label(context.span(size_node), f"this is {size}"),
            hint=f"a tile has {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]} threads",
        )
    parent = context.value(group)
    if is_coalesced_group(parent):
        method_call = ast.copy_location(ast.Call(node.func, [size_node], []), node)
        return call_group_method(context, parent, "tiled_partition", method_call)
    tile = partition(parent.value, size) if isinstance(parent, StaticObject) else None
    if tile is None:
        reject(
            parent,
            "argument-type",
            "partition the block, a tile of at least this size, or a coalesced group",
            context.span(group),
        )
    return StaticObject(tile, context.span(node))


def _cluster(context: FunctionContext, span: Span) -> Value:
    """Lower ``cuda.cg.this_cluster()``."""
    if not context.devices.options.cluster:
        fail(
            "cluster",
            Label(span, "the kernel declares no cluster size"),
            hint="write @kernel(cluster=2), or with up to 3 axes @kernel(cluster=(2, 2))",
        )
    return StaticObject(Cluster, span)


# ---- indices and extents in a cluster -----------------------------------------------------------


def _coordinate(variable: str, axis: str, span: Span) -> Expr:
    return Apply(COORDINATES[variable, axis], (), WEAK_INT, span)


def _block_index(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    """Return the index of the block in its cluster."""
    sizes = zip(AXES, context.devices.options.cluster)
    return tuple(
        binary(MOD, _coordinate("blockIdx", axis, span), integer(size, span), span)
        if size > 1
        else integer(0, span)
        for axis, size in sizes
    )


def _linear_index(index: tuple[Expr, ...], extents: tuple[Expr, ...], span: Span) -> Expr:
    """Return ``x + width * (y + height * z)``."""
    total: Expr = integer(0, span)
    for coordinate, extent in zip(index[::-1], extents[::-1]):
        total = add_scaled(coordinate, extent, total)
    return total


def _cluster_extents(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    return tuple(integer(size, span) for size in context.devices.options.cluster)


def _block_rank(context: FunctionContext, span: Span) -> Expr:
    return _linear_index(_block_index(context, span), _cluster_extents(context, span), span)


def _block_extents(span: Span) -> tuple[Expr, ...]:
    return tuple(_coordinate("blockDim", axis, span) for axis in AXES)


def _thread_index_in_cluster(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    blocks = zip(AXES, _block_index(context, span), _block_extents(span))
    return tuple(
        add_scaled(_coordinate("threadIdx", axis, span), size, block)
        for axis, block, size in blocks
    )


def _cluster_extents_in_threads(context: FunctionContext, span: Span) -> tuple[Expr, ...]:
    return tuple(map(multiply, _cluster_extents(context, span), _block_extents(span)))


def _thread_rank(context: FunctionContext, span: Span) -> Expr:
    thread_index = tuple(_coordinate("threadIdx", axis, span) for axis in AXES)
    extents = _block_extents(span)
    in_block = _linear_index(thread_index, extents, span)
    return add_scaled(in_block, reduce(multiply, extents), _block_rank(context, span))


def _block_count(context: FunctionContext, span: Span) -> Expr:
    return integer(math.prod(context.devices.options.cluster), span)


def _thread_count(context: FunctionContext, span: Span) -> Expr:
    return reduce(multiply, _block_extents(span), _block_count(context, span))


def _extents_lowering(
    compute: Callable[[FunctionContext, Span], tuple[Expr, ...]],
) -> Callable[[FunctionContext, Span], Value]:
    return lambda context, span: TupleValue(compute(context, span), span, Extents._fields)


def _without_arguments(compute: Callable[[FunctionContext, Span], Value]) -> IntrinsicLowering:
    """Return the lowering of a function without arguments."""

    def lower(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
        argument_nodes(context, node, (), intrinsic.name)
        return compute(context, context.span(node))

    return lower


# ---- distributed shared memory -----------------------------------------------------------------


def _map_shared_rank(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cluster.map_shared_rank(array, rank)``."""
    array, rank_value = argument_values(context, node, ("array", "rank"), intrinsic.name)
    rank = require_integer(require_number(rank_value, "the rank"))
    block_count = math.prod(context.devices.options.cluster)
    if isinstance(rank, Const) and not 0 <= rank.value < block_count:
        fail(
            "index-range",
            Label(rank.span, f"a cluster has {block_count} blocks"),
            hint=f"write 0 to {block_count - 1}",
        )
    span = context.span(node)
    if isinstance(array, ArraySelect):
        evaluated_rank = require_number(materialize(context, rank, "rank"))
        return branches.for_each_array(
            context, array, lambda a: _map_array(a, evaluated_rank, span)
        )
    return _map_array(array, rank, span)


def _map_array(array: Value, rank: Expr, span: Span) -> View:
    if not is_array(array):
        _reject_array(array, f"this is {describe(array)}")
    owner = array.array if isinstance(array, View) else array
    space = array_type(owner).space
    if space is MemorySpace.CLUSTER:
        _reject_array(array, "this is in another block already")
    if space is not MemorySpace.SHARED:
        _reject_array(array, f"`{array.type}` is not known to be in shared memory")
    view = whole_view(array, array.span)
    if has_linear_index(view):
        _reject_array(array, "this is a reshaped array")
    return _in_cluster(view, cast(rank, WEAK_INT), span)


def _in_cluster(view: View, rank: Expr, span: Span) -> View:
    """Return a view of one block's array as a view of the cluster's arrays."""
    cluster_array = Var(view.array.name, array_type(view.array).in_cluster, view.array.span)
    axes = tuple(axis + 1 for axis in view.axes)
    view_type = Array(view.type.dtype, view.type.ndim, "A")
    return replace(
        view, array=cluster_array, first=(rank, *view.first), axes=axes, type=view_type, span=span
    )


def _reject_array(array: Value, text: str) -> NoReturn:
    fail(
        "argument-type",
        Label(array.span, text),
        hint="map_shared_rank takes an array of cuda.shared.array(…), or a slice of it",
    )


GROUP_LOWERINGS: dict[str, IntrinsicLowering] = {
    "cuda.cg.this_grid": _without_arguments(lambda _, span: StaticObject(Grid, span)),
    "cuda.cg.this_thread_block": _without_arguments(lambda _, span: StaticObject(Block, span)),
    "cuda.cg.tiled_partition": _tiles,
    PREFIX: _without_arguments(_cluster),
    f"{PREFIX}.block_index": _without_arguments(_extents_lowering(_block_index)),
    f"{PREFIX}.dim_blocks": _without_arguments(_extents_lowering(_cluster_extents)),
    f"{PREFIX}.thread_index": _without_arguments(_extents_lowering(_thread_index_in_cluster)),
    f"{PREFIX}.dim_threads": _without_arguments(_extents_lowering(_cluster_extents_in_threads)),
    f"{PREFIX}.block_rank": _without_arguments(_block_rank),
    f"{PREFIX}.num_blocks": _without_arguments(_block_count),
    f"{PREFIX}.thread_rank": _without_arguments(_thread_rank),
    f"{PREFIX}.num_threads": _without_arguments(_thread_count),
    f"{PREFIX}.map_shared_rank": _map_shared_rank,
}

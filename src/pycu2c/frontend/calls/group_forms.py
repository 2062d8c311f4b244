"""Thread groups by name: the grid, the block, tiles of a warp, clusters of blocks."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.frontend.calls.builtin_arguments import (
    IntrinsicLowering,
    argument_nodes,
    constant_integer,
)
from pycu2c.frontend.calls.cluster_groups import CLUSTER_LOWERINGS
from pycu2c.frontend.calls.group_methods import call_method, is_coalesced_group
from pycu2c.frontend.function_context import FunctionContext, StaticObject, Value, describe
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.cooperative_groups import SIZES, Block, Grid, partition


def _group(group: type) -> IntrinsicLowering:
    """Return the lowering of ``cuda.cg.this_grid()``."""

    def build(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
        argument_nodes(context, node, (), intrinsic.name)
        return StaticObject(group, context.span(node))

    return build


def _tiles(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower ``cuda.cg.tiled_partition(block, 8)``."""
    group, lanes = argument_nodes(context, node, ("group", "size"), intrinsic.name)
    size = constant_integer(context, lanes, "the threads of a tile")
    if size not in SIZES:
        fail(
            "argument-type",
            Label(context.span(lanes), f"this is {size}"),
            hint=f"a tile has {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]} threads",
        )
    parent = context.value(group)
    if is_coalesced_group(parent):
        sized = ast.copy_location(ast.Call(node.func, [lanes], []), node)
        return call_method(context, parent, "tiled_partition", sized)
    found = partition(parent.value, size) if isinstance(parent, StaticObject) else None
    if found is None:
        fail(
            "argument-type",
            Label(context.span(group), f"this is {describe(parent)}"),
            hint="cut cuda.cg.this_thread_block(), a tile that is no smaller, or a group of lanes",
        )
    return StaticObject(found, context.span(node))


GROUP_LOWERINGS: dict[str, IntrinsicLowering] = {
    "cuda.cg.this_grid": _group(Grid),
    "cuda.cg.this_thread_block": _group(Block),
    "cuda.cg.tiled_partition": _tiles,
    **CLUSTER_LOWERINGS,
}

"""Groups of threads by their names: the grid, the block, tiles of a warp, clusters of blocks."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.frontend.calls.builtin_arguments import Form, arguments, constant_integer
from pycu2c.frontend.calls.cluster_groups import CLUSTER_FORMS
from pycu2c.frontend.calls.group_methods import call_method, is_found_group
from pycu2c.frontend.function_context import Frame, Static, Value, shown
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.cooperative_groups import SIZES, Block, Grid, cut


def _group(group: type) -> Form:
    """``cuda.cg.this_grid()``."""

    def build(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
        arguments(frame, node, (), row.name)
        return Static(group, frame.span(node))

    return build


def _tiles(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cuda.cg.tiled_partition(block, 8)``."""
    group, lanes = arguments(frame, node, ("group", "size"), row.name)
    size = constant_integer(frame, lanes, "the threads of a tile")
    if size not in SIZES:
        fail(
            "argument-type",
            Label(frame.span(lanes), f"this is {size}"),
            help=f"a tile has {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]} threads",
        )
    whole = frame.value(group)
    if is_found_group(whole):
        sized = ast.copy_location(ast.Call(node.func, [lanes], []), node)
        return call_method(frame, whole, "tiled_partition", sized)
    found = cut(whole.value, size) if isinstance(whole, Static) else None
    if found is None:
        fail(
            "argument-type",
            Label(frame.span(group), f"this is {shown(whole)}"),
            help="cut cuda.cg.this_thread_block(), a tile that is no smaller, or a group of lanes",
        )
    return Static(found, frame.span(node))


GROUP_FORMS: dict[str, Form] = {
    "cuda.cg.this_grid": _group(Grid),
    "cuda.cg.this_thread_block": _group(Block),
    "cuda.cg.tiled_partition": _tiles,
    **CLUSTER_FORMS,
}

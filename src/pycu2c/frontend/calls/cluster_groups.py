"""``cuda.cg.this_cluster()``: where a block stands in its cluster, and the shared arrays of other
blocks."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import reduce
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, Space
from pycu2c.frontend.calls.builtin_arguments import Form, arguments, values
from pycu2c.frontend.evaluation_order import kept
from pycu2c.frontend.expressions.arithmetic import whole_number
from pycu2c.frontend.expressions.array_views import array_type, is_numbered, whole
from pycu2c.frontend.function_context import (
    Chosen,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    number,
    shown,
)
from pycu2c.frontend.statements import branches
from pycu2c.ir.builders import binary, cast, integer
from pycu2c.ir.nodes import Apply, Const, Expr, Var, View
from pycu2c.ir.views import scaled, shifted
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.clusters import PREFIX, Cluster, Extents
from pycu2c.ops.intrinsics.threads.coordinates import AXES, PLACES
from pycu2c.ops.operators import MOD


def _cluster(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cuda.cg.this_cluster()``."""
    arguments(frame, node, (), row.name)
    if not frame.devices.cluster:
        fail(
            "cluster",
            Label(frame.span(node), "the kernel does not say how many blocks are a cluster"),
            help="write @kernel(cluster=2), or with up to 3 axes @kernel(cluster=(2, 2))",
        )
    return Static(Cluster, frame.span(node))


# ---- where a block stands ----------------------------------------------------------------------


def _place(variable: str, axis: str, span: Span) -> Expr:
    return Apply(PLACES[variable, axis], (), WEAK_INT, span)


def _index(frame: Frame, span: Span) -> tuple[Expr, ...]:
    """Clusters lie in the grid side by side, and so do their blocks."""
    sizes = zip(AXES, frame.devices.cluster)
    return tuple(
        binary(MOD, _place("blockIdx", axis, span), integer(size, span), span)
        if size > 1
        else integer(0, span)
        for axis, size in sizes
    )


def _numbered(index: tuple[Expr, ...], extents: tuple[Expr, ...], span: Span) -> Expr:
    """``x + width * (y + height * z)``."""
    total: Expr = integer(0, span)
    for place, extent in zip(index[::-1], extents[::-1]):
        total = shifted(place, extent, total)
    return total


def _extents(frame: Frame, span: Span) -> tuple[Expr, ...]:
    return tuple(integer(size, span) for size in frame.devices.cluster)


def _rank(frame: Frame, span: Span) -> Expr:
    return _numbered(_index(frame, span), _extents(frame, span), span)


def _block_extents(span: Span) -> tuple[Expr, ...]:
    return tuple(_place("blockDim", axis, span) for axis in AXES)


def _thread_index(frame: Frame, span: Span) -> tuple[Expr, ...]:
    places = zip(AXES, _index(frame, span), _block_extents(span))
    return tuple(shifted(_place("threadIdx", a, span), size, at) for a, at, size in places)


def _thread_extents(frame: Frame, span: Span) -> tuple[Expr, ...]:
    return tuple(map(scaled, _extents(frame, span), _block_extents(span)))


def _thread_rank(frame: Frame, span: Span) -> Expr:
    threads = tuple(_place("threadIdx", axis, span) for axis in AXES)
    extents = _block_extents(span)
    inside = _numbered(threads, extents, span)
    return shifted(inside, reduce(scaled, extents), _rank(frame, span))


def _blocks(frame: Frame, span: Span) -> Expr:
    return integer(math.prod(frame.devices.cluster), span)


def _threads(frame: Frame, span: Span) -> Expr:
    return reduce(scaled, _block_extents(span), _blocks(frame, span))


def _along_axes(find: Callable[[Frame, Span], tuple[Expr, ...]]) -> Callable[[Frame, Span], Value]:
    return lambda frame, span: Items(find(frame, span), span, Extents._fields)


def _of_block(find: Callable[[Frame, Span], Value]) -> Form:
    """A form that takes nothing."""

    def build(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
        arguments(frame, node, (), row.name)
        return find(frame, frame.span(node))

    return build


# ---- the memory of other blocks ----------------------------------------------------------------


def _map(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cluster.map_shared_rank(array, rank)``."""
    array, given = values(frame, node, ("array", "rank"), row.name)
    rank = whole_number(number(given, "the rank"))
    blocks = math.prod(frame.devices.cluster)
    if isinstance(rank, Const) and not 0 <= rank.value < blocks:
        fail(
            "index-range",
            Label(rank.span, f"a cluster has {blocks} blocks"),
            help=f"write 0 to {blocks - 1}",
        )
    span = frame.span(node)
    if isinstance(array, Chosen):
        steady = number(kept(frame, rank, "rank"))
        return branches.each(frame, array, lambda a: _mapped(a, steady, span))
    return _mapped(array, rank, span)


def _mapped(array: Value, rank: Expr, span: Span) -> View:
    if not is_array(array):
        _refuse(array, f"this is {shown(array)}")
    owner = array.array if isinstance(array, View) else array
    space = array_type(owner).space
    if space is Space.CLUSTER:
        _refuse(array, "this lies in another block already")
    if space is not Space.SHARED:
        _refuse(array, f"`{array.type}` lies in no block's shared memory, as far as is known here")
    view = whole(array, array.span)
    if is_numbered(view):
        _refuse(array, "this is an array in another shape")
    return _in_cluster(view, cast(rank, WEAK_INT), span)


def _in_cluster(view: View, rank: Expr, span: Span) -> View:
    """A view of one block's array as a view of what all blocks of the cluster have."""
    theirs = Var(view.array.name, array_type(view.array).in_cluster, view.array.span)
    axes = tuple(axis + 1 for axis in view.axes)
    kind = Array(view.type.dtype, view.type.ndim, "A")
    return replace(view, array=theirs, first=(rank, *view.first), axes=axes, type=kind, span=span)


def _refuse(array: Value, found: str) -> NoReturn:
    fail(
        "argument-type",
        Label(array.span, found),
        help="map_shared_rank takes what cuda.shared.array(…) gives, or a part of it",
    )


CLUSTER_FORMS: dict[str, Form] = {
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

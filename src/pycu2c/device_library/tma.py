"""Implement ``pycu2c.cuda.tma``: boxes of arrays that the tensor memory accelerator copies.

One thread starts a copy, and continues. Threads wait for loads at a barrier (``cuda.barrier``), and
for groups of their stores. The CPU copies at once.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from pycu2c import cuda
from pycu2c.base.types import int32
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library import barrier
from pycu2c.device_library.instructions import ADDRESS_HELPER, instruction
from pycu2c.device_library.swizzle import swizzled_column
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

# ---- copies on the CPU ---------------------------------------------------------------------------


@device
def _offset_in_box(tile: Any, n: Any) -> Any:
    """Return the index of element ``n`` of a box."""
    lengths = tile.shape
    return tuple(n // math.prod(lengths[axis + 1 :]) % lengths[axis] for axis in range(tile.ndim))


@device
def _index_in_tile(tile: Any, n: Any, swizzle: Any) -> Any:
    """Return the index in a tile of element ``n`` of a box."""
    offset, width = _offset_in_box(tile, n), tile.shape[tile.ndim - 1]
    if swizzle == "none":
        return offset
    return (*offset[:-1], swizzled_column(tile, n // width, n % width))


@device
def _is_inside(array: Any, index: Any) -> Any:
    return all(0 <= index[axis] < array.shape[axis] for axis in range(array.ndim))


@device
def _zero(tile: Any) -> Any:
    """Return zero in the type of a tile, of numbers or vectors."""
    if tile.dtype.names is None:
        return tile.dtype.type(0)
    return tile.dtype(*(0,) * len(tile.dtype.names))


@device
def _load_box(tile: Any, array: Any, corner: Any, swizzle: Any) -> None:
    for n in range(tile.size):
        offset = _offset_in_box(tile, n)
        index = tuple(corner[axis] + offset[axis] for axis in range(array.ndim))
        tile[_index_in_tile(tile, n, swizzle)] = (
            array[index] if _is_inside(array, index) else _zero(tile)
        )


@device
def _store_box(tile: Any, array: Any, corner: Any, swizzle: Any) -> None:
    for n in range(tile.size):
        offset = _offset_in_box(tile, n)
        index = tuple(corner[axis] + offset[axis] for axis in range(array.ndim))
        if _is_inside(array, index):
            array[index] = tile[_index_in_tile(tile, n, swizzle)]


# ---- instructions --------------------------------------------------------------------------------

Fields: TypeAlias = tuple[str, ...] | None  # of the elements of a tile, if they are vectors


@device
def _five_coordinates(corner: Any) -> Any:
    """Return an index along five axes, the maximum; unused axes have 0."""
    x = (*corner, 0, 0, 0, 0)
    return int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3]), int32(x[4])


def _coordinates(ndim: int, fields: Fields, first_operand: int) -> tuple[str, str]:
    """Return the operands of a corner in PTX, and in C; the last axis is the first coordinate."""
    numbers = ", ".join(f"%{first_operand + n}" for n in range(ndim))
    factor = f"{len(fields)} * " if fields else ""
    others = [f', "r"(x{axis})' for axis in reversed(range(ndim - 1))]
    return numbers, f'"r"({factor}x{ndim - 1})' + "".join(others)


def _loader(ndim: int, fields: Fields, swizzle: str) -> Any:
    """Return the function that loads a box with ``ndim`` axes."""
    numbers, values = _coordinates(ndim, fields, 3)

    @c_function(
        cuda=f"""
        asm volatile("cp.async.bulk.tensor.{ndim}d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {{{numbers}}}], [%2];"
                     :: "r"(shared_address(tile)), "l"(descriptor),
                        "r"(shared_address(bar + index)), {values} : "memory");
        """,
        preamble=ADDRESS_HELPER,
    )
    def load_box(
        tile: Any, descriptor: Any, array: Any, bar: Any, index: Any,
        x0: Any, x1: Any, x2: Any, x3: Any, x4: Any,
    ) -> None:  # fmt: skip
        _load_box(tile, array, (x0, x1, x2, x3, x4)[:ndim], swizzle)
        barrier.update(bar, index, 0, -tile.size * tile.dtype.itemsize)

    return load_box


def _multicaster(ndim: int, fields: Fields, swizzle: str) -> Any:
    """Return the function that loads a box for several blocks of the cluster."""
    numbers, values = _coordinates(ndim, fields, 4)

    @c_function(
        cuda=f"""
        asm volatile("cp.async.bulk.tensor.{ndim}d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {{{numbers}}}], [%2], %3;"
                     :: "r"(shared_address(tile)), "l"(descriptor),
                        "r"(shared_address(bar + index)), "h"((unsigned short)ranks), {values}
                     : "memory");
        """,
        preamble=ADDRESS_HELPER,
    )
    def multicast_box(
        tile: Any, descriptor: Any, array: Any, bar: Any, index: Any, ranks: Any,
        x0: Any, x1: Any, x2: Any, x3: Any, x4: Any,
    ) -> None:  # fmt: skip
        cluster = cuda.cg.this_cluster()
        for rank in range(cluster.num_blocks()):
            if ranks >> rank & 1:
                tile_of_block = cluster.map_shared_rank(tile, rank)
                bar_of_block = cluster.map_shared_rank(bar, rank)
                _load_box(tile_of_block, array, (x0, x1, x2, x3, x4)[:ndim], swizzle)
                barrier.update(bar_of_block, index, 0, -tile.size * tile.dtype.itemsize)

    return multicast_box


def _storer(ndim: int, fields: Fields, swizzle: str) -> Any:
    """Return the function that stores a box with ``ndim`` axes."""
    numbers, values = _coordinates(ndim, fields, 2)

    @c_function(
        cuda=f"""
        asm volatile("cp.async.bulk.tensor.{ndim}d.global.shared::cta.tile.bulk_group"
                     " [%0, {{{numbers}}}], [%1];"
                     :: "l"(descriptor), "r"(shared_address(tile)), {values} : "memory");
        """,
        preamble=ADDRESS_HELPER,
    )
    def store_box(
        tile: Any, descriptor: Any, array: Any,
        x0: Any, x1: Any, x2: Any, x3: Any, x4: Any,
    ) -> None:  # fmt: skip
        _store_box(tile, array, (x0, x1, x2, x3, x4)[:ndim], swizzle)

    return store_box


# ---- the functions -------------------------------------------------------------------------------


@device
def load(tile: Any, tensor_map: Any, corner: Any, bar: Any, index: Any) -> None:
    """Copy a box of an array to shared memory.

    The copy counts as ``tile.size * tile.dtype.itemsize`` bytes of the barrier, which a thread has
    to expect (``cuda.barrier.arrive_expect_tx``). Elements outside of the array become 0.
    """
    _loader(tile.ndim, tile.dtype.names, tensor_map.swizzle)(
        tile, tensor_map.descriptor, tensor_map.array, bar, int32(index),
        *_five_coordinates(corner),
    )  # fmt: skip


@device
def load_multicast(
    tile: Any, tensor_map: Any, corner: Any, bar: Any, index: Any, ranks: Any
) -> None:
    """Copy a box of an array to the same tile of several blocks of the cluster.

    The copy counts for the barrier of each of these blocks.
    """
    _multicaster(tile.ndim, tile.dtype.names, tensor_map.swizzle)(
        tile, tensor_map.descriptor, tensor_map.array, bar, int32(index),
        int32(ranks), *_five_coordinates(corner),
    )  # fmt: skip


@device
def store(tensor_map: Any, corner: Any, tile: Any) -> None:
    """Copy a tile from shared memory to a box of an array; elements outside are not written.

    The indices of ``corner`` are not negative: a GPU cannot store there. Before it, each thread
    that wrote to the tile calls ``fence_proxy_async``, and the threads synchronize. After it, the
    thread calls ``commit_group``.
    """
    _storer(tile.ndim, tile.dtype.names, tensor_map.swizzle)(
        tile, tensor_map.descriptor, tensor_map.array, *_five_coordinates(corner)
    )


@device
def commit_group() -> None:
    """Make a group of the stores that this thread has started."""
    instruction("cp.async.bulk.commit_group")()


@device
def wait_group(pending: Any) -> None:
    """Wait until at most ``pending`` groups of this thread are not complete."""
    instruction("cp.async.bulk.wait_group", pending)()


@device
def wait_group_read(pending: Any) -> None:
    """Wait until at most ``pending`` groups of this thread still read shared memory."""
    instruction("cp.async.bulk.wait_group.read", pending)()


@device
def fence_proxy_async() -> None:
    """Make this thread's writes to shared memory visible to later asynchronous copies and wgmma."""
    instruction("fence.proxy.async.shared::cta")()


@c_function(cuda='asm volatile("prefetch.tensormap [%0];" :: "l"(descriptor) : "memory");')
def _prefetch(descriptor: Any) -> None:
    return


@device
def prefetch(tensor_map: Any) -> None:
    """Load the descriptor of a tensor map into the cache."""
    _prefetch(tensor_map.descriptor)


document_parameters(
    globals(),
    """
tile : array | A shared array of the shape of the box, or a view of one. A swizzled tile begins at a
  multiple of 1024 bytes.
tensor_map : cuda.TensorMap | An argument of the kernel.
corner : tuple of int | The index of the first element of the box in the array.
bar : array of uint64 | A shared array of barriers.
index : int | The position of the barrier.
ranks : int | A mask of the ranks of the blocks in the cluster.
pending : int | A compile-time constant.
""",
)

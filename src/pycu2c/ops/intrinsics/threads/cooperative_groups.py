"""Cooperative groups: the grid, the block, and tiles of a warp.

Their methods are device functions in the kernel language.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any, TypeAlias

from pycu2c.ops.intrinsics.kinds import const, form, number
from pycu2c.ops.intrinsics.registry import Effect, intrinsic
from pycu2c.ops.intrinsics.threads import warp
from pycu2c.ops.intrinsics.threads.barriers import grid_sync, syncthreads
from pycu2c.ops.intrinsics.threads.clusters import Extents
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES

_COORDINATES: Any = {
    name: SimpleNamespace(**{axis: COORDINATES[name, axis] for axis in AXES})
    for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
}
threadIdx: Any = _COORDINATES["threadIdx"]
blockIdx: Any = _COORDINATES["blockIdx"]
blockDim: Any = _COORDINATES["blockDim"]
gridDim: Any = _COORDINATES["gridDim"]
laneid: Any = warp.LANE


# ---- the block ---------------------------------------------------------------------------------


def block_thread_rank() -> Any:
    """Return the rank of the thread in its block, x fastest."""
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)


def block_num_threads() -> Any:
    """Return the number of threads of the block."""
    return blockDim.x * blockDim.y * blockDim.z


def block_thread_index() -> Any:
    """Return the index of the thread in its block, as (x, y, z)."""
    return Extents(threadIdx.x, threadIdx.y, threadIdx.z)


def block_group_index() -> Any:
    """Return the index of the block in the grid, as (x, y, z)."""
    return Extents(blockIdx.x, blockIdx.y, blockIdx.z)


def block_dim_threads() -> Any:
    """Return the threads per block, as (x, y, z)."""
    return Extents(blockDim.x, blockDim.y, blockDim.z)


class Block:
    """The result of ``cuda.cg.this_thread_block()``."""

    sync = syncthreads
    thread_rank = staticmethod(block_thread_rank)
    num_threads = staticmethod(block_num_threads)
    size = staticmethod(block_num_threads)
    thread_index = staticmethod(block_thread_index)
    group_index = staticmethod(block_group_index)
    dim_threads = staticmethod(block_dim_threads)
    group_dim = staticmethod(block_dim_threads)


@intrinsic("cuda.cg.this_thread_block", effect=Effect.FORM)
def this_thread_block() -> form:
    """Return the group of the threads of the block: ``block.sync()``, ``block.thread_rank()``."""
    return Block


# ---- the grid ----------------------------------------------------------------------------------


def grid_block_rank() -> Any:
    """Return the rank of the block in the grid, x fastest."""
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)


def grid_num_blocks() -> Any:
    """Return the number of blocks of the grid."""
    return gridDim.x * gridDim.y * gridDim.z


def grid_thread_rank() -> Any:
    """Return the rank of the thread in the grid: block after block, each x fastest."""
    inside = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)
    block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)
    return block * (blockDim.x * blockDim.y * blockDim.z) + inside


def grid_num_threads() -> Any:
    """Return the number of threads of the grid."""
    return gridDim.x * gridDim.y * gridDim.z * (blockDim.x * blockDim.y * blockDim.z)


def grid_dim_blocks() -> Any:
    """Return the blocks per grid, as (x, y, z)."""
    return Extents(gridDim.x, gridDim.y, gridDim.z)


def grid_is_valid() -> Any:
    """Return whether the grid can synchronize, which is always true."""
    return True


class Grid:
    """The result of ``cuda.cg.this_grid()``."""

    sync = grid_sync
    is_valid = staticmethod(grid_is_valid)
    thread_rank = staticmethod(grid_thread_rank)
    num_threads = staticmethod(grid_num_threads)
    size = staticmethod(grid_num_threads)
    block_rank = staticmethod(grid_block_rank)
    num_blocks = staticmethod(grid_num_blocks)
    block_index = staticmethod(block_group_index)
    dim_blocks = staticmethod(grid_dim_blocks)
    group_dim = staticmethod(grid_dim_blocks)


@intrinsic("cuda.cg.this_grid", effect=Effect.FORM)
def this_grid() -> form:
    """Return the group of all threads of the launch; ``cuda.cg.this_grid().sync()`` is a barrier.

    No thread may return before the barrier. The blocks of such a launch must fit on the device.
    """
    return Grid


# ---- tiles of a warp ---------------------------------------------------------------------------

SIZES = (1, 2, 4, 8, 16, 32)


class Tile:
    """The result of ``cuda.cg.tiled_partition(group, size)``."""

    lanes: int


Functions: TypeAlias = dict[str, Any]  # of a group, by their names


@functools.cache
def tile_of(lanes: int, outer: int = 0) -> type[Tile]:
    """Return the class of tiles of ``lanes`` lanes in tiles of ``outer`` lanes; 0 is the block."""
    mask = _mask(lanes)
    functions = (
        _rank_and_size(lanes, mask)
        | _position_in_parent(lanes, outer)
        | _shuffles(lanes, mask)
        | _votes(lanes, mask)
    )
    members: dict[str, Any] = {n: staticmethod(f) for n, f in functions.items()}
    return type(f"Tile{lanes}", (Tile,), members | {"lanes": lanes})


def _mask(lanes: int) -> Any:
    ones, whole = (1 << lanes) - 1, lanes == 32

    def mask() -> Any:
        """Return the mask of the lanes of the tile."""
        return 0xFFFFFFFF if whole else ones << (laneid & -lanes)

    return mask


def _rank_and_size(lanes: int, mask: Any) -> Functions:
    def thread_rank() -> Any:
        """Return the rank of the thread in its tile."""
        return laneid & (lanes - 1)

    def num_threads() -> Any:
        """Return the number of threads of the tile."""
        return lanes

    def sync() -> Any:
        """Wait until the threads of the tile have reached the barrier."""
        warp.syncwarp(mask())

    sizes = {"num_threads": num_threads, "size": num_threads}
    return {"thread_rank": thread_rank, **sizes, "lane_mask": mask, "sync": sync}


def _position_in_parent(lanes: int, outer: int) -> Functions:
    def meta_group_rank() -> Any:
        """Return the rank of the tile in the group that was partitioned."""
        if outer:
            return (laneid & (outer - 1)) // lanes
        place = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)
        return place // lanes

    def meta_group_size() -> Any:
        """Return the number of tiles of the group that was partitioned."""
        if outer:
            return outer // lanes
        return (blockDim.x * blockDim.y * blockDim.z + lanes - 1) // lanes

    return {"meta_group_rank": meta_group_rank, "meta_group_size": meta_group_size}


def _shuffles(lanes: int, mask: Any) -> Functions:
    def shfl(value: Any, src_rank: Any) -> Any:
        """Return the value of the thread with a rank."""
        return warp.shfl_sync(mask(), value, src_rank, lanes)

    def shfl_up(value: Any, delta: Any) -> Any:
        """Return the value of the thread ``delta`` ranks below, else the thread's own."""
        return warp.shfl_up_sync(mask(), value, delta, lanes)

    def shfl_down(value: Any, delta: Any) -> Any:
        """Return the value of the thread ``delta`` ranks above, else the thread's own."""
        return warp.shfl_down_sync(mask(), value, delta, lanes)

    def shfl_xor(value: Any, lane_mask: Any) -> Any:
        """Return the value of the thread with the rank ``thread_rank() ^ lane_mask``."""
        return warp.shfl_xor_sync(mask(), value, lane_mask, lanes)

    return {f.__name__: f for f in (shfl, shfl_up, shfl_down, shfl_xor)}


def _votes(lanes: int, mask: Any) -> Functions:
    def any_(predicate: Any) -> Any:
        """Return whether ``predicate`` is true for any thread of the tile."""
        return warp.any_sync(mask(), predicate)

    def all_(predicate: Any) -> Any:
        """Return whether ``predicate`` is true for all threads of the tile."""
        return warp.all_sync(mask(), predicate)

    def ballot(predicate: Any) -> Any:
        """Return the mask of the ranks of the threads for which ``predicate`` is true."""
        return warp.ballot_sync(mask(), predicate) >> (laneid & -lanes)

    def match_any(value: Any) -> Any:
        """Return the mask of the ranks of the threads with the same value."""
        return warp.match_any_sync(mask(), value) >> (laneid & -lanes)

    def match_all(value: Any) -> Any:
        """Return ``(mask, True)`` if all threads have the same value, else ``(0, False)``."""
        bits, is_equal = warp.match_all_sync(mask(), value)
        return bits >> (laneid & -lanes), is_equal

    masks = {f.__name__: f for f in (ballot, match_any, match_all)}
    return {"any": any_, "all": all_, **masks}


def partition(group: object, lanes: int) -> type[Tile] | None:
    """Return tiles of a group; None if ``group`` is not a group, or is smaller than a tile."""
    if group is Block:
        return tile_of(lanes)
    if not isinstance(group, type) or not issubclass(group, Tile) or lanes > group.lanes:
        return None
    return tile_of(lanes, group.lanes)


@intrinsic("cuda.cg.tiled_partition", effect=Effect.FORM)
def tiled_partition(group: number, size: const) -> form:
    """Return the tile of the thread in a block or tile: 1, 2, 4, 8, 16 or 32 consecutive lanes."""
    return partition(group, int(size))

"""Cooperative groups whose members are known at run time, and collective operations on groups.

A mask of lanes identifies the members. The functions are written in the kernel language.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pycu2c.ops.intrinsics.integers.bits import FFS, POPC
from pycu2c.ops.intrinsics.threads import warp
from pycu2c.ops.names.cuda_namespace import LIBRARY_FUNCTIONS

popc: Any = POPC
ffs: Any = FFS
laneid: Any = warp.LANE
lanemask_lt: Any = warp.LANEMASK_LT


def lane_with_rank(lanes: Any, rank: Any) -> Any:
    """Return the lane of the member with a rank: the index of a set bit, counted from 0."""
    if lanes == 0xFFFFFFFF:
        return rank & 31
    lane, rest = 0, rank
    for width in (16, 8, 4, 2, 1):
        below = popc(lanes >> lane & ((1 << width) - 1))
        if rest >= below:
            rest -= below
            lane += width
    return lane


def packed_bits(bits: Any, lanes: Any) -> Any:
    """Return a mask of lanes as a mask of member ranks."""
    if lanes == 0xFFFFFFFF:
        return bits
    result, rest = 0, bits & lanes
    while rest != 0:
        lowest = rest & -rest
        result |= 1 << popc(lanes & (lowest - 1))
        rest ^= lowest
    return result


class CoalescedGroup(NamedTuple):
    """The result of ``cuda.cg.coalesced_threads()``; ``coalesced_lanes`` is the mask of members."""

    coalesced_lanes: Any
    meta_rank: Any
    meta_size: Any

    def size(self) -> Any:
        """Return the number of threads of the group."""
        return popc(self.coalesced_lanes)

    def num_threads(self) -> Any:
        """Return the number of threads of the group."""
        return popc(self.coalesced_lanes)

    def thread_rank(self) -> Any:
        """Return the rank of the thread in the group."""
        return popc(self.coalesced_lanes & lanemask_lt())

    def rank(self) -> Any:
        """Return the rank of the thread in the group."""
        return popc(self.coalesced_lanes & lanemask_lt())

    def lane_mask(self) -> Any:
        """Return the mask of the lanes of the group."""
        return self.coalesced_lanes

    def meta_group_size(self) -> Any:
        """Return the number of groups that the parent was partitioned into; 1 without a parent."""
        return self.meta_size

    def meta_group_rank(self) -> Any:
        """Return the rank of the group in its parent; 0 without a parent."""
        return self.meta_rank

    def sync(self) -> Any:
        """Wait until the threads of the group have reached the barrier."""
        warp.syncwarp(self.coalesced_lanes)

    def shfl(self, value: Any, src_rank: Any) -> Any:
        """Return the value of the thread with a rank."""
        lanes = self.coalesced_lanes
        return warp.shfl_sync(lanes, value, lane_with_rank(lanes, src_rank))

    def shfl_up(self, value: Any, delta: Any) -> Any:
        """Return the value of the thread ``delta`` ranks below, else the thread's own."""
        lanes = self.coalesced_lanes
        source = popc(lanes & lanemask_lt()) - delta
        return warp.shfl_sync(
            lanes, value, lane_with_rank(lanes, source) if source >= 0 else laneid
        )

    def shfl_down(self, value: Any, delta: Any) -> Any:
        """Return the value of the thread ``delta`` ranks above, else the thread's own."""
        lanes = self.coalesced_lanes
        source = popc(lanes & lanemask_lt()) + delta
        is_in_group = source < popc(lanes)
        return warp.shfl_sync(
            lanes, value, lane_with_rank(lanes, source) if is_in_group else laneid
        )

    def any(self, predicate: Any) -> Any:
        """Return whether ``predicate`` is true for any thread of the group."""
        return warp.any_sync(self.coalesced_lanes, predicate)

    def all(self, predicate: Any) -> Any:
        """Return whether ``predicate`` is true for all threads of the group."""
        return warp.all_sync(self.coalesced_lanes, predicate)

    def ballot(self, predicate: Any) -> Any:
        """Return the mask of the ranks of the threads for which ``predicate`` is true."""
        lanes = self.coalesced_lanes
        return packed_bits(warp.ballot_sync(lanes, predicate), lanes)

    def match_any(self, value: Any) -> Any:
        """Return the mask of the ranks of the threads with the same value."""
        lanes = self.coalesced_lanes
        return packed_bits(warp.match_any_sync(lanes, value), lanes)

    def match_all(self, value: Any) -> Any:
        """Return ``(mask, True)`` if all threads have the same value, else ``(0, False)``."""
        lanes = self.coalesced_lanes
        bits, is_equal = warp.match_all_sync(lanes, value)
        return packed_bits(bits, lanes), is_equal

    def tiled_partition(self, size: Any) -> Any:
        """Return the tile of the thread: ``size`` members with consecutive ranks, or the remainder.

        ``cuda.cg.tiled_partition(group, size)`` is equivalent.
        """
        lanes, total = self.coalesced_lanes, popc(self.coalesced_lanes)
        tile = popc(lanes & lanemask_lt()) // size
        end = (tile + 1) * size
        from_first = -1 << lane_with_rank(lanes, tile * size)
        to_last = (1 << lane_with_rank(lanes, end)) - 1 if end < total else -1
        return CoalescedGroup(lanes & from_first & to_last, tile, (total + size - 1) // size)


def coalesced_threads() -> Any:
    """Return the group of the active lanes of the warp."""
    return CoalescedGroup(warp.activemask(), 0, 1)


def labeled_partition(group: Any, label: Any) -> Any:
    """Return the group of the threads of a tile or coalesced group with the same ``label``."""
    lanes = group.lane_mask()
    own = warp.match_any_sync(lanes, label)
    leader = ffs(own) - 1
    leaders = warp.ballot_sync(lanes, laneid == leader)
    return CoalescedGroup(own, popc(leaders & ((1 << leader) - 1)), popc(leaders))


def binary_partition(group: Any, predicate: Any) -> Any:
    """Return the group of the threads of a tile or coalesced group with the same ``predicate``.

    Of two groups, the one for which it is true has rank 1.
    """
    lanes = group.lane_mask()
    holds = warp.ballot_sync(lanes, predicate)
    is_divided = holds != 0 and holds != lanes
    own = holds if predicate else lanes ^ holds
    return CoalescedGroup(own, 1 if is_divided and predicate else 0, 2 if is_divided else 1)


def reduce(group: Any, value: Any, op: Any) -> Any:
    """Reduce the values of a tile or coalesced group: ``reduce(g, x, cuda.cg.plus)``.

    The reduction is a tree over consecutive ranks. Every thread receives the result.
    """
    size, rank = group.num_threads(), group.thread_rank()
    total, step = value, 1
    while step < size:
        other = group.shfl_down(total, step)
        if rank & (2 * step - 1) == 0 and rank + step < size:
            total = op(total, other)
        step *= 2
    return group.shfl(total, 0)


def inclusive_scan(group: Any, value: Any, op: Any) -> Any:
    """Return the inclusive scan of the values of a tile or coalesced group, by rank."""
    size, rank = group.num_threads(), group.thread_rank()
    total, step = value, 1
    while step < size:
        other = group.shfl_up(total, step)
        if rank >= step:
            total = op(other, total)
        step *= 2
    return total


def plus(a: Any, b: Any) -> Any:
    """Return ``a + b``, for ``reduce``."""
    return a + b


def less(a: Any, b: Any) -> Any:
    """Return the lesser value, for ``reduce``."""
    return min(a, b)


def greater(a: Any, b: Any) -> Any:
    """Return the greater value, for ``reduce``."""
    return max(a, b)


def bit_and(a: Any, b: Any) -> Any:
    """Return ``a & b``, for ``reduce``."""
    return a & b


def bit_or(a: Any, b: Any) -> Any:
    """Return ``a | b``, for ``reduce``."""
    return a | b


def bit_xor(a: Any, b: Any) -> Any:
    """Return ``a ^ b``, for ``reduce``."""
    return a ^ b


LIBRARY_FUNCTIONS.update(
    (f"cuda.cg.{f.__name__}", f)
    for f in (
        coalesced_threads,
        labeled_partition,
        binary_partition,
        reduce,
        inclusive_scan,
        plus,
        less,
        greater,
        bit_and,
        bit_or,
        bit_xor,
    )
)

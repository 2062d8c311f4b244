"""Groups of lanes that are formed at run time, and collective operations on groups of a warp.

A mask of lanes identifies the members. The functions are in the kernel language.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pycu2c.ops.intrinsics.integers.bits import FFS, POPC
from pycu2c.ops.intrinsics.threads.cooperative_groups import tiled_partition
from pycu2c.ops.intrinsics.threads.warp import (
    LANE,
    LANEMASK_LT,
    activemask,
    all_sync,
    any_sync,
    ballot_sync,
    match_all_sync,
    match_any_sync,
    shfl_sync,
    syncwarp,
)
from pycu2c.ops.names.cuda_namespace import WRITTEN

popc: Any = POPC
ffs: Any = FFS
laneid: Any = LANE
lanemask_lt: Any = LANEMASK_LT


def lane_with_rank(lanes: Any, rank: Any) -> Any:
    """The lane of the member with a number: the place of the bit above ``rank`` others."""
    if lanes == 0xFFFFFFFF:
        return rank & 31
    place, rest = 0, rank
    for width in (16, 8, 4, 2, 1):
        below = popc(lanes >> place & ((1 << width) - 1))
        if rest >= below:
            rest -= below
            place += width
    return place


def packed_bits(bits: Any, lanes: Any) -> Any:
    """Bits of lanes as bits of members, by their numbers."""
    if lanes == 0xFFFFFFFF:
        return bits
    result, rest = 0, bits & lanes
    while rest != 0:
        lowest = rest & -rest
        result |= 1 << popc(lanes & (lowest - 1))
        rest ^= lowest
    return result


class Coalesced(NamedTuple):
    """The result of ``cuda.cg.coalesced_threads()``; ``coalesced_lanes`` is the mask of members."""

    coalesced_lanes: Any
    meta_rank: Any
    meta_size: Any

    def size(self) -> Any:
        """Threads in the group."""
        return popc(self.coalesced_lanes)

    def num_threads(self) -> Any:
        """Threads in the group."""
        return popc(self.coalesced_lanes)

    def thread_rank(self) -> Any:
        """The number of the thread in the group."""
        return popc(self.coalesced_lanes & lanemask_lt())

    def rank(self) -> Any:
        """The number of the thread in the group."""
        return popc(self.coalesced_lanes & lanemask_lt())

    def lane_mask(self) -> Any:
        """The bits of the lanes that are in the group."""
        return self.coalesced_lanes

    def meta_group_size(self) -> Any:
        """Groups in the one that was cut; 1 if none was."""
        return self.meta_size

    def meta_group_rank(self) -> Any:
        """The number of the group in the one that was cut; 0 if none was."""
        return self.meta_rank

    def sync(self) -> Any:
        """Wait until the threads of the group have reached the barrier."""
        syncwarp(self.coalesced_lanes)

    def shfl(self, value: Any, src_rank: Any) -> Any:
        """The value that the thread with a number gives."""
        lanes = self.coalesced_lanes
        return shfl_sync(lanes, value, lane_with_rank(lanes, src_rank))

    def shfl_up(self, value: Any, delta: Any) -> Any:
        """The value of the thread ``delta`` below; the own one where there is none."""
        lanes = self.coalesced_lanes
        source = popc(lanes & lanemask_lt()) - delta
        return shfl_sync(lanes, value, lane_with_rank(lanes, source) if source >= 0 else laneid)

    def shfl_down(self, value: Any, delta: Any) -> Any:
        """The value of the thread ``delta`` above; the own one where there is none."""
        lanes = self.coalesced_lanes
        source = popc(lanes & lanemask_lt()) + delta
        is_there = source < popc(lanes)
        return shfl_sync(lanes, value, lane_with_rank(lanes, source) if is_there else laneid)

    def any(self, predicate: Any) -> Any:
        """Whether ``predicate`` is true for some thread of the group."""
        return any_sync(self.coalesced_lanes, predicate)

    def all(self, predicate: Any) -> Any:
        """Whether ``predicate`` is true for all threads of the group."""
        return all_sync(self.coalesced_lanes, predicate)

    def ballot(self, predicate: Any) -> Any:
        """The bits of the threads for which ``predicate`` is true, by their numbers."""
        lanes = self.coalesced_lanes
        return packed_bits(ballot_sync(lanes, predicate), lanes)

    def match_any(self, value: Any) -> Any:
        """The bits of the threads that give the same value, by their numbers."""
        lanes = self.coalesced_lanes
        return packed_bits(match_any_sync(lanes, value), lanes)

    def match_all(self, value: Any) -> Any:
        """``(bits, True)`` if all threads of the group give the same value, else ``(0, False)``."""
        lanes = self.coalesced_lanes
        bits, alike = match_all_sync(lanes, value)
        return packed_bits(bits, lanes), alike

    def tiled_partition(self, size: Any) -> Any:
        """The thread's tile: ``size`` members with neighbouring numbers, or what is left of them.
        ``cuda.cg.tiled_partition(group, size)`` is the same."""
        lanes, total = self.coalesced_lanes, popc(self.coalesced_lanes)
        number = popc(lanes & lanemask_lt()) // size
        end = (number + 1) * size
        from_first = -1 << lane_with_rank(lanes, number * size)
        to_last = (1 << lane_with_rank(lanes, end)) - 1 if end < total else -1
        return Coalesced(lanes & from_first & to_last, number, (total + size - 1) // size)


def coalesced_threads() -> Any:
    """The group of the lanes of the warp that run this together with the thread."""
    return Coalesced(activemask(), 0, 1)


def labeled_partition(group: Any, label: Any) -> Any:
    """The threads of a tile, or of a group of lanes, that give the same ``label``."""
    lanes = group.lane_mask()
    own = match_any_sync(lanes, label)
    leader = ffs(own) - 1
    leaders = ballot_sync(lanes, laneid == leader)
    return Coalesced(own, popc(leaders & ((1 << leader) - 1)), popc(leaders))


def binary_partition(group: Any, predicate: Any) -> Any:
    """The threads of a tile or group for which ``predicate`` is as for the own one.

    Of two groups the number 1 is that for which it is true.
    """
    lanes = group.lane_mask()
    ready = ballot_sync(lanes, predicate)
    is_cut = ready != 0 and ready != lanes
    own = ready if predicate else lanes ^ ready
    return Coalesced(own, 1 if is_cut and predicate else 0, 2 if is_cut else 1)


def reduce(group: Any, value: Any, op: Any) -> Any:
    """``op`` over the values of the threads of a tile or group: ``reduce(g, x, cuda.cg.plus)``.

    Neighbours first, then pairs of them, and so on; every thread gets the result.
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
    """``op`` over the values of the threads up to the own one, in a tile or group."""
    size, rank = group.num_threads(), group.thread_rank()
    total, step = value, 1
    while step < size:
        other = group.shfl_up(total, step)
        if rank >= step:
            total = op(other, total)
        step *= 2
    return total


def plus(a: Any, b: Any) -> Any:
    """``a + b``, for ``reduce``."""
    return a + b


def less(a: Any, b: Any) -> Any:
    """The lesser one, for ``reduce``."""
    return min(a, b)


def greater(a: Any, b: Any) -> Any:
    """The greater one, for ``reduce``."""
    return max(a, b)


def bit_and(a: Any, b: Any) -> Any:
    """``a & b``, for ``reduce``."""
    return a & b


def bit_or(a: Any, b: Any) -> Any:
    """``a | b``, for ``reduce``."""
    return a | b


def bit_xor(a: Any, b: Any) -> Any:
    """``a ^ b``, for ``reduce``."""
    return a ^ b


def method_of(target: object, given: tuple[Any, ...]) -> object:
    """Return the target of a call whose first argument is a group formed at run time.

    It is the method of the group, if there is one.
    """
    if target is tiled_partition and given and isinstance(given[0], Coalesced):
        return Coalesced.tiled_partition
    return target


WRITTEN.update(
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

"""Check which launch assumptions hold for a launch: one function for each assumption."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import (
    BLOCKS32_LIMIT,
    CACHE_EXCEEDING_BYTES,
    INDEX32_LIMIT,
    MAX_ACCUMULATOR_ELEMENTS,
)
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.launch_configuration import Extent, Launch
from pycu2c.runtime.runner import ANY_BLOCK_COUNT, KernelMetadata, SpecializationKey


@dataclass(frozen=True, slots=True)
class CheckedLaunch:
    """A launch, and the properties of its kernel that the checks need.

    limits: of integer arguments, by leaf: the magnitude below which ``index32_safe`` holds.
    """

    backend: str
    launch: Launch
    leaves: tuple[Argument, ...]
    metadata: KernelMetadata
    limits: Mapping[int, int]

    @property
    def is_on_cpu(self) -> bool:
        return self.backend in CPU_BACKENDS

    @property
    def threads(self) -> int:
        return math.prod(self.launch.grid) * math.prod(self.launch.block)


def check_assumptions(c: CheckedLaunch) -> LaunchAssumptions:
    """Return the assumptions that hold for a launch."""
    return LaunchAssumptions(
        index32_safe=index32_safe(c),
        block=block(c),
        unaliased_accumulators=unaliased_accumulators(c),
        exceeds_last_level_cache=exceeds_last_level_cache(c),
    )


def index32_safe(c: CheckedLaunch) -> bool:
    arrays = [a for a in c.leaves if isinstance(a, ArrayArgument)]
    threads = max(g * b for g, b in zip(c.launch.grid, c.launch.block))
    largest = max(map(_max_offset, arrays), default=0)
    small_ints = all(abs(as_int(c.leaves[i])) <= limit for i, limit in c.limits.items())
    few_blocks = max(c.launch.grid) <= BLOCKS32_LIMIT
    nonempty = all(0 not in a.shape for a in arrays)
    return nonempty and small_ints and few_blocks and max(threads, largest) < INDEX32_LIMIT


def block(c: CheckedLaunch) -> Extent | None:
    return c.launch.block if c.is_on_cpu else None


def unaliased_accumulators(c: CheckedLaunch) -> tuple[int, ...]:
    if not c.is_on_cpu:
        return ()
    limit = min(MAX_ACCUMULATOR_ELEMENTS, c.threads)
    return tuple(
        i
        for i in c.metadata.accumulator_arguments
        if isinstance(array := c.leaves[i], ArrayArgument)
        and array.size <= limit
        and is_unaliased(i, c.leaves)
    )


def is_unaliased(position: int, leaves: Sequence[Argument]) -> bool:
    """Return whether no other array argument overlaps this one."""
    array = leaves[position]
    assert isinstance(array, ArrayArgument)
    start, size = array.region
    others = [a for i, a in enumerate(leaves) if i != position and isinstance(a, ArrayArgument)]
    return all(
        start + size <= other or other + other_size <= start
        for other, other_size in (a.region for a in others)
    )


def exceeds_last_level_cache(c: CheckedLaunch) -> bool:
    if c.backend != "cpu":
        return False
    return c.metadata.streamed_bytes * c.threads >= CACHE_EXCEEDING_BYTES


def _max_offset(array: ArrayArgument) -> int:
    """Return the number of elements of an array, or that its strides span, if that is more."""
    elements = math.prod(n or 1 for n in array.shape)
    if array.contiguous:
        return elements
    spanned = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides) if n > 1)
    return max(elements, spanned // array.dtype.size)


# ---- launches by the dispatch table ------------------------------------------------------------


def dispatchable_blocks(key: SpecializationKey, metadata: KernelMetadata) -> tuple[int, int] | None:
    """Return the numbers of blocks (from, below) for which the assumptions of ``key`` hold.

    The dispatch table checks these, the shape of the block and the sizes of arrays and integers.
    None if it cannot check all assumptions; then each launch takes the slow path.
    """
    assumptions = key.assumptions
    if not assumptions.index32_safe:
        return None
    if metadata.accumulator_arguments and key.backend in CPU_BACKENDS:
        return None
    if not metadata.streamed_bytes or key.backend != "cpu" or assumptions.block is None:
        return ANY_BLOCK_COUNT
    threads = math.prod(assumptions.block)
    fewest = -(-CACHE_EXCEEDING_BYTES // (metadata.streamed_bytes * threads))
    return (fewest, ANY_BLOCK_COUNT[1]) if assumptions.exceeds_last_level_cache else (0, fewest)

"""Check which launch assumptions hold for a launch: one function for each assumption."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.dtypes import INT64
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import (
    BLOCKS32_LIMIT,
    CACHE_EXCEEDING_BYTES,
    INDEX32_LIMIT,
    MAX_ACCUMULATOR_ELEMENTS,
    MAX_ARRAY_ELEMENTS,
    MAX_SHORT_AXIS,
    PRODUCT32_LIMIT,
)
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.launch_configuration import Extent, Launch
from pycu2c.runtime.runner import ANY_BLOCK_COUNT, KernelMetadata, SpecializationKey

Products: TypeAlias = tuple[tuple[int, ...], ...]  # of integer arguments, by leaf
_BACKENDS_WITH_FIXED_AXES = ("cpu", "cuda")


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


def check_assumptions(checked: CheckedLaunch) -> LaunchAssumptions:
    """Return the assumptions that hold for a launch."""
    is_index32_safe = index32_safe(checked)
    return LaunchAssumptions(
        index32_safe=is_index32_safe,
        block=block(checked),
        unaliased_accumulators=unaliased_accumulators(checked),
        exceeds_last_level_cache=exceeds_last_level_cache(checked),
        distinct_arrays=distinct_arrays(checked),
        short_axes=short_axes(checked),
        small_products=(
            small_products(checked.metadata, checked.leaves) if is_index32_safe else ()
        ),
    )


def index32_safe(checked: CheckedLaunch) -> bool:
    arrays = [a for a in checked.leaves if isinstance(a, ArrayArgument)]
    threads = (g * b for g, b in zip(checked.launch.grid, checked.launch.block))
    lengths = [n for a in arrays for n in a.shape]
    largest = max(map(_spanned_elements, arrays), default=0)
    has_small_ints = not has_large_integer(checked.leaves, checked.limits)
    has_few_blocks = max(checked.launch.grid) <= BLOCKS32_LIMIT
    has_narrow_axes = 0 not in lengths and max(*threads, *lengths) < INDEX32_LIMIT
    return has_narrow_axes and has_small_ints and has_few_blocks and largest <= INDEX32_LIMIT


def has_large_integer(leaves: Sequence[Argument], limits: Mapping[int, int]) -> bool:
    """Return whether an integer argument exceeds the magnitude for 32-bit indices."""
    return any(abs(as_int(leaves[i])) > limit for i, limit in limits.items())


def block(checked: CheckedLaunch) -> Extent | None:
    return checked.launch.block if checked.is_on_cpu else None


def unaliased_accumulators(checked: CheckedLaunch) -> tuple[int, ...]:
    if not checked.is_on_cpu:
        return ()
    limit = min(MAX_ACCUMULATOR_ELEMENTS, checked.threads)
    return tuple(
        i
        for i in checked.metadata.accumulator_arguments
        if isinstance(array := checked.leaves[i], ArrayArgument)
        and array.size <= limit
        and is_unaliased(i, checked.leaves)
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


def distinct_arrays(checked: CheckedLaunch) -> bool:
    if checked.backend != "cuda" or not checked.metadata.aliasing_matters:
        return False
    written = (i for i in checked.metadata.written if isinstance(checked.leaves[i], ArrayArgument))
    return all(is_unaliased(i, checked.leaves) for i in written)


def exceeds_last_level_cache(checked: CheckedLaunch) -> bool:
    if checked.backend != "cpu":
        return False
    return checked.metadata.streamed_bytes * checked.threads >= CACHE_EXCEEDING_BYTES


def short_axes(checked: CheckedLaunch) -> tuple[tuple[int, int, int], ...]:
    """Return the candidates whose last axis is short: argument, axis and length."""
    if checked.backend not in _BACKENDS_WITH_FIXED_AXES:
        return ()
    arrays = (
        (leaf, axis, array.shape[axis])
        for leaf, axis in checked.metadata.short_axis_candidates
        if isinstance(array := checked.leaves[leaf], ArrayArgument)
    )
    return tuple(found for found in arrays if is_short(found[2]))


def is_short(length: int) -> bool:
    """Return whether code for this length of a last axis is worth a compilation."""
    return 2 <= length <= MAX_SHORT_AXIS


def small_products(metadata: KernelMetadata, leaves: Sequence[Argument]) -> Products:
    """Return the products of integers that the compiler needs if all are small, else none."""
    products = metadata.integer_products
    return products if are_small(products, _factors(products, leaves)) else ()


def _factors(products: Products, leaves: Sequence[Argument]) -> dict[int, int]:
    return {i: as_int(leaves[i]) for i in chain.from_iterable(products)}


def are_small(products: Products, factors: Mapping[int, int]) -> bool:
    return all(
        min(numbers) >= 1 and math.prod(numbers) <= PRODUCT32_LIMIT
        for numbers in ([factors[i] for i in product] for product in products)
    )


def _spanned_elements(array: ArrayArgument) -> int:
    """Return the larger of the number of elements and the number that the strides span."""
    elements = math.prod(n or 1 for n in array.shape)
    if array.contiguous:
        return elements
    spanned = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides) if n > 1)
    return max(elements, spanned // array.dtype.size + 1)


# ---- launches by the dispatch table ------------------------------------------------------------


def dispatchable_blocks(
    key: SpecializationKey, metadata: KernelMetadata, has_large_integer: bool
) -> tuple[int, int] | None:
    """Return the numbers of blocks (from, below) for which the assumptions of ``key`` hold.

    The dispatch table checks these, the shape of the block and the sizes of arrays and integers.
    None if it cannot check all assumptions; then each launch takes the slow path. It checks that
    an integer exceeds its limit, but not that an array does.
    """
    assumptions = key.assumptions
    if not (assumptions.index32_safe or has_large_integer):
        return None
    if metadata.accumulator_arguments and key.backend in CPU_BACKENDS:
        return None
    if not metadata.streamed_bytes or key.backend != "cpu" or assumptions.block is None:
        return ANY_BLOCK_COUNT
    threads = math.prod(assumptions.block)
    min_blocks = -(-CACHE_EXCEEDING_BYTES // (metadata.streamed_bytes * threads))
    if assumptions.exceeds_last_level_cache:
        return (min_blocks, ANY_BLOCK_COUNT[1])
    return (0, min_blocks)


def integer_ranges(
    key: SpecializationKey,
    leaves: Sequence[Argument],
    metadata: KernelMetadata,
    limits: Mapping[int, int],
) -> dict[int, tuple[int, int]]:
    """Return the least and the largest value of integers, by leaf, for which ``key`` is chosen."""
    ranges = {i: _same_side_of_limit(as_int(leaves[i]), limit) for i, limit in limits.items()}
    products = metadata.integer_products
    factors = _factors(products, leaves)
    if key.assumptions.small_products:
        return ranges | {i: (1, n) for i, n in _upper_bounds(products, factors).items()}
    if not key.assumptions.index32_safe or are_small(products, factors):
        return ranges
    large = next(p for p in products if not are_small((p,), factors))
    if nonpositive := [i for i in large if factors[i] < 1]:
        return ranges | {i: (ranges[i][0], 0) for i in nonpositive}
    return ranges | {i: (factors[i], ranges[i][1]) for i in large}


def _same_side_of_limit(value: int, limit: int) -> tuple[int, int]:
    if value > limit:
        return limit + 1, INT64.maximum
    return (INT64.minimum, -limit - 1) if value < -limit else (-limit, limit)


def _upper_bounds(products: Products, factors: Mapping[int, int]) -> Mapping[int, int]:
    """Return bounds of factors whose products are small, few different ones for many launches."""
    common = 1 << (PRODUCT32_LIMIT.bit_length() - 1) // max(map(len, products))
    for least in (common, 1):
        bounds = {i: max(least, 1 << (n - 1).bit_length()) for i, n in factors.items()}
        if are_small(products, bounds):
            return bounds
    return factors


def last_axis_lengths(
    key: SpecializationKey, leaves: Sequence[Argument], metadata: KernelMetadata
) -> dict[int, tuple[int, int]]:
    """Return the least and the largest length of last axes for which ``key`` is chosen.

    The result has the arrays, by leaf, whose lengths the dispatch table checks.
    """
    if key.backend not in _BACKENDS_WITH_FIXED_AXES:
        return {}
    fixed = {leaf for leaf, _, _ in key.assumptions.short_axes}
    lengths = {}
    for leaf, axis in metadata.short_axis_candidates:
        array = leaves[leaf]
        assert isinstance(array, ArrayArgument)
        length = array.shape[axis]
        if leaf in fixed:
            lengths[leaf] = length, length
        elif not is_short(length):  # else there are too many specializations
            lengths[leaf] = (0, 1) if length < 2 else (MAX_SHORT_AXIS + 1, MAX_ARRAY_ELEMENTS)
    return lengths

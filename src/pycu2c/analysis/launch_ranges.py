"""Value ranges that follow from the launch assumptions, and how a target computes indices."""

from __future__ import annotations

from pycu2c.analysis.ranges.interval_arithmetic import Interval, all_values
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import BLOCKS32_LIMIT, INDEX32_LIMIT
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.base.values import assumed_magnitude_limit
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import (
    AXES,
    BLOCK_COORDINATES,
    COORDINATES,
    GRID,
    GRIDSIZE,
)
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index


def length_range(assumptions: LaunchAssumptions) -> Interval:
    """Return the range of the length of an axis of any array; a view may be empty."""
    return Interval(0, assumptions.max_elements)


def argument_length_range(assumptions: LaunchAssumptions) -> Interval:
    """Return the range of the length of an axis of the kernel's arguments."""
    if assumptions.index32_safe:
        return Interval(1, INDEX32_LIMIT - 1)
    return Interval(0, assumptions.max_elements)


def argument_range(assumptions: LaunchAssumptions, scalar: Scalar) -> Interval:
    """Return the range of an integer argument of the kernel."""
    limit = assumed_magnitude_limit(scalar) if assumptions.index32_safe else None
    return all_values(scalar) if limit is None else Interval(-limit, limit)


def intrinsic_range(assumptions: LaunchAssumptions, intrinsic: Intrinsic) -> Interval | None:
    """Return the range of the integer that an intrinsic returns; None if it has no bounds."""
    if intrinsic.bounds is None:
        return None
    low, high = intrinsic.bounds
    if assumptions.index32_safe and intrinsic in GRID + GRIDSIZE:
        high = min(high, INDEX32_LIMIT - (2 if intrinsic in GRID else 1))
    if assumptions.index32_safe and intrinsic in BLOCK_COORDINATES:
        high = min(high, BLOCKS32_LIMIT - (1 if low == 0 else 0))
    for axis, extent in zip(AXES, assumptions.block or ()):
        if intrinsic is COORDINATES["threadIdx", axis]:
            high = extent - 1
    if assumptions.grid is not None and assumptions.block is not None:
        low, high = _range_in_launch(intrinsic, assumptions.grid, assumptions.block, (low, high))
    return Interval(low, assumptions.max_threads - 1 if intrinsic is linear_thread_index else high)


def _range_in_launch(
    intrinsic: Intrinsic,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    bounds: tuple[int, int],
) -> tuple[int, int]:
    """Return the bounds of a coordinate in a launch with this grid and this block."""
    for axis, blocks, threads in zip(AXES, grid, block):
        match intrinsic.name.removesuffix(f".{axis}"):
            case "cuda.blockDim":
                return threads, threads
            case "cuda.gridDim":
                return blocks, blocks
            case "cuda.blockIdx":
                return 0, blocks - 1
            case "cuda.grid":
                return 0, blocks * threads - 1
            case "cuda.gridsize":
                return blocks * threads, blocks * threads
    return bounds


def is_thread_coordinate(intrinsic: Intrinsic) -> bool:
    """Return whether an intrinsic is a coordinate of the thread, which never changes."""
    return intrinsic.bounds is not None and (
        intrinsic.is_special_register or intrinsic in GRID + GRIDSIZE
    )


@dataclass(frozen=True, slots=True)
class IndexRules:
    """Launch assumptions, with the option and the property of the target that concern indices.

    ``wraparound``: an index that is not a constant may be negative (an option of the kernel).
    ``narrow_ints``: the target computes in 32 bits where they suffice.
    """

    assumptions: LaunchAssumptions
    wraparound: bool = True
    narrow_ints: bool = True

    @property
    def index32(self) -> bool:
        """Return whether lengths and indices are 32-bit."""
        return self.assumptions.index32_safe and self.narrow_ints

    @property
    def max_elements(self) -> int:
        return self.assumptions.max_elements

"""Compute the occupancy of a kernel, as CUDA's occupancy calculator. Requires no driver.

The limits are those of the table of compute capabilities in the CUDA programming guide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pycu2c.base.lazy_imports import lazy_method
from pycu2c.base.limits import DEFAULT_BLOCK_THREADS
from pycu2c.base.records import dataclass
from pycu2c.toolchain.nvrtc.resource_usage import WARP_SIZE, KernelAttributes, warps_for_registers
from pycu2c.toolchain.toolchain_errors import ToolchainError

_WARP_ALLOCATION = 4  # registers are allocated to groups of warps, one per scheduler
_SHARED_GRANULARITY = 128  # bytes
_KIB = 1024


class MultiprocessorLimits(NamedTuple):
    """Limits of a multiprocessor: resident warps, resident blocks, bytes of shared memory, and the
    bytes that the system reserves per block."""

    warps: int
    blocks: int
    shared: int
    reserved: int


_LIMITS = {
    "75": MultiprocessorLimits(32, 16, 64 * _KIB, 0),
    "80": MultiprocessorLimits(64, 32, 164 * _KIB, _KIB),
    "86": MultiprocessorLimits(48, 16, 100 * _KIB, _KIB),
    "87": MultiprocessorLimits(48, 16, 164 * _KIB, _KIB),
    "89": MultiprocessorLimits(48, 24, 100 * _KIB, _KIB),
    "90": MultiprocessorLimits(64, 32, 228 * _KIB, _KIB),
    "100": MultiprocessorLimits(64, 32, 228 * _KIB, _KIB),
    "103": MultiprocessorLimits(64, 32, 228 * _KIB, _KIB),
    "110": MultiprocessorLimits(48, 24, 228 * _KIB, _KIB),
    "120": MultiprocessorLimits(48, 24, 100 * _KIB, _KIB),
    "121": MultiprocessorLimits(48, 24, 100 * _KIB, _KIB),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The occupancy of a multiprocessor by a kernel.

    Attributes
    ----------
    blocks, warps : int
        The resident blocks and warps.
    fraction : float
        The resident warps, divided by the limit of the multiprocessor.
    limited_by : str
        "warps", "blocks", "registers" or "shared memory".
    """

    blocks: int
    warps: int
    fraction: float
    limited_by: str

    _repr_html_ = lazy_method("pycu2c.base.output.html_tables", "attributes")


def limits_of(arch: str) -> MultiprocessorLimits:
    """Return the limits of an architecture. Raises ToolchainError if it is not in the table."""
    number = arch.removeprefix("sm_").rstrip("af")
    if number not in _LIMITS:
        known = ", ".join(f"sm_{n}" for n in _LIMITS)
        raise ToolchainError(f"the occupancy is known for {known}, not for {arch}")
    return _LIMITS[number]


def occupancy(kernel: KernelAttributes, threads: int, dynamic_bytes: int = 0) -> Occupancy:
    """Return the occupancy for a block size and a size of dynamic shared memory."""
    limits = limits_of(kernel.arch)
    warps = -(-threads // WARP_SIZE)
    warps_by_registers = (
        warps_for_registers(kernel.registers) // _WARP_ALLOCATION * _WARP_ALLOCATION
    )
    blocks_by_resource = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": warps_by_registers // warps,
    }
    shared = kernel.shared_bytes + dynamic_bytes + limits.reserved
    if shared:
        blocks_by_resource["shared memory"] = limits.shared // (
            -(-shared // _SHARED_GRANULARITY) * _SHARED_GRANULARITY
        )
    limiter = min(blocks_by_resource, key=lambda name: blocks_by_resource[name])
    blocks = blocks_by_resource[limiter]
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, limiter)


_BLOCK_SIZES = (DEFAULT_BLOCK_THREADS, 128, 512, 192, 384, 96, 64, 768, 1024, 32)


def best_block(kernel: KernelAttributes, dynamic_bytes: int = 0) -> int:
    """Return the block size with the most resident warps; ties go to the first size."""
    sizes: Iterable[int] = (n for n in _BLOCK_SIZES if n <= kernel.max_threads)
    return max(sizes, key=lambda n: occupancy(kernel, n, dynamic_bytes).warps)

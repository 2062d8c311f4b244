"""How many blocks of a kernel a multiprocessor of a GPU holds at a time: CUDA's occupancy
calculator. Needs no driver and no device.

The limits are those of the CUDA programming guide's table of compute capabilities.
"""

from __future__ import annotations

from collections.abc import Iterable

from pycu2c.base.limits import USUAL_BLOCK
from pycu2c.base.records import NamedTuple, dataclass
from pycu2c.toolchain.nvrtc.resource_usage import WARP, KernelAttributes, warps_with
from pycu2c.toolchain.toolchain_errors import ToolchainError

_WARPS_TOGETHER = 4  # warps get registers in such groups, one for each scheduler
_SHARED_UNIT = 128  # bytes
_KIB = 1024


class Limits(NamedTuple):
    """Of a multiprocessor: warps and blocks at a time, bytes of shared memory, and how many of
    these the system takes for each block."""

    warps: int
    blocks: int
    shared: int
    reserved: int


_LIMITS = {
    "75": Limits(32, 16, 64 * _KIB, 0),
    "80": Limits(64, 32, 164 * _KIB, _KIB),
    "86": Limits(48, 16, 100 * _KIB, _KIB),
    "87": Limits(48, 16, 164 * _KIB, _KIB),
    "89": Limits(48, 24, 100 * _KIB, _KIB),
    "90": Limits(64, 32, 228 * _KIB, _KIB),
    "100": Limits(64, 32, 228 * _KIB, _KIB),
    "103": Limits(64, 32, 228 * _KIB, _KIB),
    "110": Limits(48, 24, 228 * _KIB, _KIB),
    "120": Limits(48, 24, 100 * _KIB, _KIB),
    "121": Limits(48, 24, 100 * _KIB, _KIB),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What a multiprocessor holds of a kernel at a time.

    blocks, warps: how many.
    fraction: of the warps that it can hold.
    limited_by: "warps", "blocks", "registers" or "shared memory".
    """

    blocks: int
    warps: int
    fraction: float
    limited_by: str


def limits_of(arch: str) -> Limits:
    """Raises ToolchainError for an architecture that is not in the table."""
    number = arch.removeprefix("sm_").rstrip("af")
    if number not in _LIMITS:
        known = ", ".join(f"sm_{n}" for n in _LIMITS)
        raise ToolchainError(f"the occupancy is known for {known}, not for {arch}")
    return _LIMITS[number]


def occupancy(takes: KernelAttributes, threads: int, dynamic_bytes: int = 0) -> Occupancy:
    """For blocks of so many threads, with so many bytes of dynamic shared memory."""
    limits = limits_of(takes.arch)
    warps = -(-threads // WARP)
    by_registers = warps_with(takes.registers) // _WARPS_TOGETHER * _WARPS_TOGETHER
    room = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": by_registers // warps,
    }
    shared = takes.shared_bytes + dynamic_bytes + limits.reserved
    if shared:
        room["shared memory"] = limits.shared // (-(-shared // _SHARED_UNIT) * _SHARED_UNIT)
    narrowest = min(room, key=lambda name: room[name])
    blocks = room[narrowest]
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, narrowest)


_SIZES = (USUAL_BLOCK, 128, 512, 192, 384, 96, 64, 768, 1024, 32)


def best_block(takes: KernelAttributes, dynamic_bytes: int = 0) -> int:
    """A number of threads with which a multiprocessor holds most; 256 if nothing is better."""
    sizes: Iterable[int] = (n for n in _SIZES if n <= takes.max_threads)
    return max(sizes, key=lambda n: occupancy(takes, n, dynamic_bytes).warps)

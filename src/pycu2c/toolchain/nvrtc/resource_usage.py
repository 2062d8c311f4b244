"""What a kernel takes of a GPU, as the assembler says. Needs no driver and no device."""

from __future__ import annotations

import re

from pycu2c.base.limits import MOST_THREADS
from pycu2c.base.records import dataclass
from pycu2c.declarations.options import DEFAULT, Options
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

WARP = 32
_REGISTERS = 65536  # of a multiprocessor, and the most of a block, since sm_53
_UNIT = 256  # registers are given to warps in such pieces


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """What one kernel takes, compiled for ``arch``.

    registers: of a thread.
    shared_bytes: static shared memory of a block.
    local_bytes: of a thread, in device memory: arrays that are indexed by what is not constant,
    and registers that did not fit.
    spill_bytes: what is written to local memory because the registers did not suffice.
    const_bytes: constant arrays.
    max_threads: the most threads of a block.
    """

    arch: str
    registers: int
    shared_bytes: int
    local_bytes: int
    spill_bytes: int
    const_bytes: int
    max_threads: int


def attributes(text: str, entry: str, arch: str, options: Options = DEFAULT) -> KernelAttributes:
    """Compile CUDA C for ``arch`` and read what the assembler says. Raises ToolchainError."""
    log = nvrtc.assembler_log(text, entry, arch, options)
    registers = _number(r"[Uu]sed (\d+) registers", log)
    if registers is None:
        raise ToolchainError(f"NVRTC does not say what {entry} takes on {arch}:\n{log}")
    return KernelAttributes(
        arch,
        registers,
        _number(r"(\d+) bytes smem", log) or 0,
        _number(r"(\d+)(?: bytes)? stack", log) or 0,
        _number(r"(\d+) bytes spill stores", log) or 0,
        _number(r"(\d+) bytes cmem\[3\]", log) or 0,
        _most_threads(registers, options),
    )


def _number(pattern: str, log: str) -> int | None:
    found = re.search(pattern, log)
    return int(found[1]) if found else None


def _most_threads(registers: int, options: Options) -> int:
    most = min(warps_with(registers) * WARP, MOST_THREADS)
    return min(most, *options.launch_bounds[:1]) if options.launch_bounds else most


def warps_with(registers: int) -> int:
    """How many warps a multiprocessor has registers for."""
    of_a_warp = -(-registers * WARP // _UNIT) * _UNIT
    return _REGISTERS // of_a_warp

"""Read the resource usage of a kernel from the log of ptxas. Requires no driver and no device."""

from __future__ import annotations

import re

from pycu2c.base.lazy_imports import lazy_method
from pycu2c.base.limits import MAX_BLOCK_THREADS
from pycu2c.base.records import dataclass
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

WARP_SIZE = 32
_REGISTERS = 65536  # of a multiprocessor, and the maximum of a block, since sm_53
_REGISTER_GRANULARITY = 256  # registers are allocated to warps in these units


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """The resource usage of a kernel on an architecture.

    Attributes
    ----------
    arch : str
        The architecture, such as "sm_90".
    registers : int
        Registers per thread.
    shared_bytes : int
        Bytes of static shared memory per block.
    local_bytes : int
        Bytes of local memory per thread: spilled registers, and arrays with non-constant indices.
    spill_bytes : int
        Bytes that are stored to local memory because of register spills.
    const_bytes : int
        Bytes of constant arrays.
    max_threads : int
        The maximum number of threads per block.
    """

    arch: str
    registers: int
    shared_bytes: int
    local_bytes: int
    spill_bytes: int
    const_bytes: int
    max_threads: int

    _repr_html_ = lazy_method("pycu2c.base.output.html_tables", "attributes")


def attributes(
    text: str, entry: str, arch: str, options: Options = DEFAULT_OPTIONS
) -> KernelAttributes:
    """Compile CUDA C for ``arch`` and return its resource usage. Raises ToolchainError."""
    verbose = ("--ptxas-options=-v",)
    log = nvrtc.compile(text, entry, arch, options=options, extra_flags=verbose).log
    registers = _find_number(r"[Uu]sed (\d+) registers", log)
    if registers is None:
        raise ToolchainError(
            f"NVRTC does not report the resource usage of {entry} on {arch}:\n{log}"
        )
    return KernelAttributes(
        arch,
        registers,
        _find_number(r"(\d+) bytes smem", log) or 0,
        _find_number(r"(\d+)(?: bytes)? stack", log) or 0,
        _find_number(r"(\d+) bytes spill stores", log) or 0,
        _find_number(r"(\d+) bytes cmem\[3\]", log) or 0,
        _max_threads(registers, options),
    )


def _find_number(pattern: str, log: str) -> int | None:
    found = re.search(pattern, log)
    return int(found[1]) if found else None


def _max_threads(registers: int, options: Options) -> int:
    max_threads = min(warps_for_registers(registers) * WARP_SIZE, MAX_BLOCK_THREADS)
    return min(max_threads, *options.launch_bounds[:1]) if options.launch_bounds else max_threads


def warps_for_registers(registers: int) -> int:
    """Return how many warps with this number of registers fit into a multiprocessor."""
    warp_registers = -(-registers * WARP_SIZE // _REGISTER_GRANULARITY) * _REGISTER_GRANULARITY
    return _REGISTERS // warp_registers

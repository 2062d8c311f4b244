"""Define PyCUDA's enumerations and flags, with the driver's values."""

from __future__ import annotations

import enum
from enum import IntEnum
from typing import Any


class _NamedEnum(IntEnum):
    """An enumeration whose values print as their names."""

    def __str__(self) -> str:
        return self.name


_DEVICE_ATTRIBUTES = """
MAX_THREADS_PER_BLOCK MAX_BLOCK_DIM_X MAX_BLOCK_DIM_Y MAX_BLOCK_DIM_Z MAX_GRID_DIM_X
MAX_GRID_DIM_Y MAX_GRID_DIM_Z MAX_SHARED_MEMORY_PER_BLOCK TOTAL_CONSTANT_MEMORY WARP_SIZE
MAX_PITCH MAX_REGISTERS_PER_BLOCK CLOCK_RATE TEXTURE_ALIGNMENT GPU_OVERLAP MULTIPROCESSOR_COUNT
KERNEL_EXEC_TIMEOUT INTEGRATED CAN_MAP_HOST_MEMORY COMPUTE_MODE MAXIMUM_TEXTURE1D_WIDTH
MAXIMUM_TEXTURE2D_WIDTH MAXIMUM_TEXTURE2D_HEIGHT MAXIMUM_TEXTURE3D_WIDTH
MAXIMUM_TEXTURE3D_HEIGHT MAXIMUM_TEXTURE3D_DEPTH MAXIMUM_TEXTURE2D_LAYERED_WIDTH
MAXIMUM_TEXTURE2D_LAYERED_HEIGHT MAXIMUM_TEXTURE2D_LAYERED_LAYERS SURFACE_ALIGNMENT
CONCURRENT_KERNELS ECC_ENABLED PCI_BUS_ID PCI_DEVICE_ID TCC_DRIVER MEMORY_CLOCK_RATE
GLOBAL_MEMORY_BUS_WIDTH L2_CACHE_SIZE MAX_THREADS_PER_MULTIPROCESSOR ASYNC_ENGINE_COUNT
UNIFIED_ADDRESSING
"""
_LATER_ATTRIBUTES = {
    **{"PCI_DOMAIN_ID": 50, "COMPUTE_CAPABILITY_MAJOR": 75, "COMPUTE_CAPABILITY_MINOR": 76},
    **{"MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 81, "MAX_REGISTERS_PER_MULTIPROCESSOR": 82},
    **{"MANAGED_MEMORY": 83, "CONCURRENT_MANAGED_ACCESS": 89, "COOPERATIVE_LAUNCH": 95},
    **{"MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97, "MAX_BLOCKS_PER_MULTIPROCESSOR": 106},
    **{"SHARED_MEMORY_PER_BLOCK": 8, "REGISTERS_PER_BLOCK": 12},  # deprecated names
}


def _enumeration(name: str, members: object) -> Any:
    dynamic_enum: Any = _NamedEnum  # hide the dynamic members from type checkers
    created = dynamic_enum(name, members, start=0, module=__name__)
    created.__doc__ = f"Values of the enumeration ``{name}`` of PyCUDA."
    return created


def _flags(name: str, **members: int) -> Any:
    dynamic_flags: Any = enum.IntFlag
    created = dynamic_flags(name, members, module=__name__)
    created.__doc__ = f"Flags ``{name}`` of PyCUDA; ``|`` combines them."
    return created


device_attribute = _enumeration(
    "device_attribute",
    {**{name: i for i, name in enumerate(_DEVICE_ATTRIBUTES.split(), 1)}, **_LATER_ATTRIBUTES},
)
function_attribute = _enumeration(
    "function_attribute",
    "MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES NUM_REGS "
    "PTX_VERSION BINARY_VERSION CACHE_MODE_CA MAX_DYNAMIC_SHARED_SIZE_BYTES "
    "PREFERRED_SHARED_MEMORY_CARVEOUT",
)
compute_mode = _enumeration("compute_mode", "DEFAULT EXCLUSIVE PROHIBITED EXCLUSIVE_PROCESS")
func_cache = _enumeration("func_cache", "PREFER_NONE PREFER_SHARED PREFER_L1 PREFER_EQUAL")
ctx_flags = _flags(
    "ctx_flags",
    **{"SCHED_AUTO": 0, "SCHED_SPIN": 1, "SCHED_YIELD": 2, "SCHED_BLOCKING_SYNC": 4},
    **{"BLOCKING_SYNC": 4, "SCHED_MASK": 7, "MAP_HOST": 8, "LMEM_RESIZE_TO_MAX": 16},
)
event_flags = _flags("event_flags", DEFAULT=0, BLOCKING_SYNC=1, DISABLE_TIMING=2)
host_alloc_flags = _flags("host_alloc_flags", PORTABLE=1, DEVICEMAP=2, WRITECOMBINED=4)
mem_attach_flags = _flags("mem_attach_flags", GLOBAL=1, HOST=2, SINGLE=4)

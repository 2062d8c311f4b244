"""Load kernels, and query and set their attributes.

Kernels are loaded without a context (``cuLibrary``), and run in the current context of the calling
thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pycu2c.base.output.tracing import span
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A loaded kernel and its attributes."""

    handle: Any
    library: Any
    static_shared: int
    dynamic_shared: int  # the maximum of a launch without opt-in
    block_limit: int
    registers: int


_ATTRIBUTES = (  # those of a LoadedKernel, in order
    "SHARED_SIZE_BYTES",
    "MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "MAX_THREADS_PER_BLOCK",
    "NUM_REGS",
)


def load_kernel(cubin: bytes, entry: str) -> LoadedKernel:
    """Load a cubin and return its kernel, which stays loaded until the process exits."""
    return kernel_of(load_library(cubin, f"load the kernel {entry}"), entry)


def load_library(code: bytes, doing: str) -> Any:
    """Load a cubin, or PTX with a final zero byte, until the process exits."""
    driver.make_current()
    doing = f"{doing} ({len(code)} bytes of code)"
    with span("load", doing):
        return driver.call("cuLibraryLoadData", code, [], [], 0, [], [], 0, doing=doing)


def has_kernel(library: Any, name: str) -> bool:
    """Return whether a library has a kernel of this name."""
    driver.make_current()
    return int(driver.api().cuLibraryGetKernel(library, name.encode())[0]) == 0


def kernel_of(library: Any, entry: str) -> LoadedKernel:
    """Return a kernel of a loaded library."""
    driver.make_current()
    doing = f"look the kernel {entry} up"
    handle = driver.call("cuLibraryGetKernel", library, entry.encode(), doing=doing)
    return LoadedKernel(handle, library, *(_attribute(handle, each, doing) for each in _ATTRIBUTES))


def variable_of(library: Any, name: str) -> tuple[int, int]:
    """Return the address and size of a ``__device__`` or ``__constant__`` variable."""
    driver.make_current()
    code, address, size = driver.api().cuLibraryGetGlobal(library, name.encode())
    driver.check((code,), f"look the variable {name} up")
    return int(address), int(size)


def parameter_layout(kernel: LoadedKernel) -> list[tuple[int, int]]:
    """Return the offset and size in bytes of each parameter of a kernel."""
    parameters: list[tuple[int, int]] = []
    while True:
        code, *layout = driver.api().cuKernelGetParamInfo(kernel.handle, len(parameters))
        if int(code):  # there are no more parameters
            return parameters
        offset, size = map(int, layout)
        parameters.append((offset, size))


# ---- attributes --------------------------------------------------------------------------------


def kernel_attribute(kernel: LoadedKernel, name: str) -> int:
    """Return an attribute of a kernel; ``name`` follows ``CU_FUNC_ATTRIBUTE_``."""
    return _attribute(kernel.handle, name, f"read the attribute {name} of a kernel")


def _attribute(handle: Any, name: str, doing: str) -> int:
    attribute = getattr(driver.api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    device = driver.device().handle
    return int(driver.call("cuKernelGetAttribute", attribute, handle, device, doing=doing))


def set_kernel_attribute(kernel: LoadedKernel, name: str, value: int, doing: str = "") -> None:
    """Set an attribute of a kernel."""
    attribute = getattr(driver.api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    doing = doing or f"set the attribute {name} of a kernel to {value}"
    device = driver.device().handle
    driver.call("cuKernelSetAttribute", attribute, value, kernel.handle, device, doing=doing)


def shared_limit() -> int:
    """Return the maximum shared memory of a block with opt-in, static and dynamic."""
    name = "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"
    return driver.device_attribute(name, "read the shared memory limit")


def multiprocessor_count() -> int:
    """Return the number of multiprocessors of the device."""
    return driver.device_attribute("MULTIPROCESSOR_COUNT", "count the multiprocessors")


# ---- launches ----------------------------------------------------------------------------------


# values of CUlaunchAttributeID
COOPERATIVE, _CLUSTER_DIMENSION, PROGRAMMATIC_STREAM_SERIALIZATION = 2, 4, 6
_FLAGS = {  # the field of the value
    COOPERATIVE: "cooperative",
    PROGRAMMATIC_STREAM_SERIALIZATION: "programmaticStreamSerializationAllowed",
}


def _launch_config(grid: Any, block: Any, shared_bytes: int) -> Any:
    """Return a launch configuration for ``cuLaunchKernelEx``, without attributes."""
    config = driver.api().CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared_bytes
    return config


def _launch_attribute(number: int) -> Any:
    attribute = driver.api().CUlaunchAttribute()
    attribute.id = driver.api().CUlaunchAttributeID(number)
    return attribute


def launch_with_flags(flags: Sequence[int], handle: Any, *arguments: Any) -> tuple[Any, ...]:
    """Launch a kernel with attributes that are flags, and the arguments of ``cuLaunchKernel``."""
    grid, block, (shared_bytes, stream) = arguments[:3], arguments[3:6], arguments[6:8]
    config = _launch_config(grid, block, shared_bytes)
    attributes = [_launch_attribute(number) for number in flags]
    for number, attribute in zip(flags, attributes):
        setattr(attribute.value, _FLAGS[number], 1)
    config.attrs, config.numAttrs, config.hStream = attributes, len(attributes), stream
    answer: tuple[Any, ...] = driver.api().cuLaunchKernelEx(config, handle, *arguments[8:])
    return answer


def max_coresident_blocks(
    kernel: LoadedKernel,
    block: tuple[int, int, int],
    shared_bytes: int,
    cluster: tuple[int, ...] = (),
) -> int:
    """Return how many blocks of a kernel the device can run at the same time."""
    handle = driver.api().CUfunction(int(kernel.handle))
    if not cluster:
        function = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        doing = "count the blocks that fit"
        count = int(driver.call(function, handle, math.prod(block), shared_bytes, doing=doing))
        return count * multiprocessor_count()
    config = _launch_config(cluster, block, shared_bytes)
    attribute = _launch_attribute(_CLUSTER_DIMENSION)
    size = attribute.value.clusterDim
    size.x, size.y, size.z = cluster
    config.attrs, config.numAttrs = [attribute], 1
    doing = "count the clusters that fit"
    clusters = int(driver.call("cuOccupancyMaxActiveClusters", handle, config, doing=doing))
    return clusters * math.prod(cluster)

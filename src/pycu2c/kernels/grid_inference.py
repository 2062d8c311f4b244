"""Infer the grid or block of a launch without one from its arguments and the kernel."""

from __future__ import annotations

from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.diagnostics import LaunchError
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.launch_configuration import Extent, extent, round_up_to_clusters
from pycu2c.runtime.runner import KernelMetadata


def inferred_block(kernel: str, metadata: KernelMetadata, backend: str) -> Extent:
    """Return the block of a launch without one. Raises LaunchError."""
    if not metadata.uses_threads and backend in (*CPU_BACKENDS, "python"):
        return (1, 1, 1)  # plain loops: it runs once
    raise LaunchError(
        f"{kernel} has no block: call {kernel}[grid, block](…), "
        "or decorate it with @kernel(block=…)"
    )


def inferred_grid(
    kernel: str,
    metadata: KernelMetadata,
    leaves: tuple[Argument, ...],
    block: Extent | None,
    cluster: tuple[int, ...],
) -> Extent:
    """Return the grid of a launch without one, in whole clusters. Raises LaunchError."""
    if block is None:
        return (1, 1, 1)
    if not metadata.lengths:
        raise LaunchError(
            f"{kernel} has no grid: call {kernel}[grid, block](…), or guard all effects of the "
            "kernel by comparisons of cuda.grid with one length, as in `if i < len(a):`"
        )
    counts = []
    for (leaf, axis), threads in zip(metadata.lengths, block):
        argument = leaves[leaf]
        array = argument if isinstance(argument, ArrayArgument) else None
        elements = as_int(argument) if array is None else array.shape[axis]
        counts.append(max(1, -(-elements // threads)))
    grid = extent(tuple(counts), "grid", kernel)
    return extent(round_up_to_clusters(grid, cluster), "grid", kernel)

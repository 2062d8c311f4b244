"""Launches that leave their grid or block open: what follows from the data and the kernel."""

from __future__ import annotations

from pycu2c.base.backends import ON_CPU
from pycu2c.base.diagnostics import LaunchError
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, whole
from pycu2c.runtime.launch_configuration import Extent, extent, whole_clusters
from pycu2c.runtime.runner import Known


def without_block(kernel: str, known: Known, backend: str) -> Extent:
    """The block of a launch that has none. Raises LaunchError."""
    if not known.uses_threads and backend in (*ON_CPU, "python"):
        return (1, 1, 1)  # plain loops: it runs once
    raise LaunchError(
        f"{kernel} has no block: call {kernel}[grid, block](…), "
        "or decorate it with @kernel(block=…)"
    )


def grid_for(
    kernel: str,
    known: Known,
    leaves: tuple[Argument, ...],
    block: Extent | None,
    cluster: tuple[int, ...],
) -> Extent:
    """The grid of a launch that has none: of whole clusters. Raises LaunchError."""
    if block is None:
        return (1, 1, 1)
    if not known.lengths:
        raise LaunchError(
            f"{kernel} has no grid, and does not compare cuda.grid(…) with one length "
            f"per axis, from which it would follow: call {kernel}[grid, block](…)"
        )
    counts = []
    for (leaf, axis), threads in zip(known.lengths, block):
        argument = leaves[leaf]
        array = argument if isinstance(argument, ArrayArgument) else None
        wanted = whole(argument) if array is None else array.shape[axis]
        counts.append(max(1, -(-wanted // threads)))
    grid = extent(tuple(counts), "grid", kernel)
    return extent(whole_clusters(grid, cluster), "grid", kernel)

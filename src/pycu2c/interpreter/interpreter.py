"""Run the grid of a kernel in Python: create the threads of each block, which a scheduler runs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.base.types import Array
from pycu2c.interpreter.functions import python_kernel
from pycu2c.interpreter.memory import DYNAMIC_SHARED
from pycu2c.interpreter.observation import Observer
from pycu2c.interpreter.operations import converter
from pycu2c.interpreter.scheduler import Coroutine, RunningBlock, RunningThread, run_blocks
from pycu2c.ir import nodes as ir
from pycu2c.ops.intrinsics.memory.allocation import POISON
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, Dim3, Thread

Extent: TypeAlias = int | Sequence[int]


class InterpretedKernel:
    """A kernel as a Python function of one thread."""

    def __init__(self, module: ir.Module, observer: Observer | None = None) -> None:
        self._kernel, self._cluster = module.kernel, module.cluster or 1
        self._run = python_kernel(module, observer)

    def launch(
        self,
        grid: Extent,
        block: Extent,
        shared: int,
        arguments: Sequence[Any],
        samples: int | None = None,
    ) -> None:
        """Run all threads of all blocks in order; arrays are changed in place.

        shared: the bytes of dynamic shared memory. samples: run as many clusters of blocks only,
        evenly spread over the grid. Raises IndexError for an index outside its array,
        DeadlockError, and the exceptions of threads.
        """
        values = [
            np.asarray(arguments[p.argument])
            if isinstance(p.type, Array)
            else converter(p.type)(arguments[p.argument])
            for p in self._kernel.parameters
        ]
        run = functools.partial(self._run, *values)
        name = self._kernel.python_name
        launch = GridLaunch(name, dim3(grid), dim3(block), dim3(self._cluster), shared, samples)
        launch.run(run, values)


@dataclass(frozen=True, slots=True)
class GridLaunch:
    """The name, extents and dynamic shared memory of a launch."""

    kernel: str
    grid: Dim3
    block: Dim3
    cluster: Dim3
    shared_bytes: int
    samples: int | None = None

    def run(self, thread: Callable[[], Coroutine], memory: Sequence[Any]) -> None:
        """Run ``thread`` for each thread; ``memory`` has the arguments, to detect deadlocks."""
        clusters = (
            _link_cluster([self._block(p, thread) for p in positions], self.cluster)
            for positions in _clusters(self.grid, self.cluster, self.samples)
        )
        try:
            with np.errstate(all="ignore"):
                run_blocks(self.kernel, itertools.chain.from_iterable(clusters), memory)
        finally:
            REFERENCE_STATE.thread = None

    def _block(self, position: Dim3, thread: Callable[[], Coroutine]) -> RunningBlock:
        """Create a block with its threads and its static and dynamic shared memory."""
        shared = {DYNAMIC_SHARED: np.full(self.shared_bytes, POISON, np.uint8)}
        threads = [
            RunningThread(Thread(index, position, self.block, self.grid, memory=shared), thread())
            for index in _positions(self.block)
        ]
        return RunningBlock(position, threads, shared)


def dim3(extent: Extent) -> Dim3:
    sizes = (extent,) if isinstance(extent, int) else tuple(extent)
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _positions(extent: Dim3) -> Iterator[Dim3]:
    """Yield all indices of a grid or block, x fastest."""
    width, height, depth = extent
    for z, y, x in itertools.product(range(depth), range(height), range(width)):
        yield x, y, z


def _clusters(grid: Dim3, size: Dim3, samples: int | None) -> Iterator[list[Dim3]]:
    """Yield the indices of the blocks of each cluster, or of samples; without clusters, of one."""
    width, height, depth = (
        -(-blocks // blocks_per_cluster) for blocks, blocks_per_cluster in zip(grid, size)
    )
    count = width * height * depth
    for number in range(count) if samples is None else _spread(count, samples):
        x, y, z = number % width, number // width % height, number // (width * height)
        first = x * size[0], y * size[1], z * size[2]
        indices = [(first[0] + i, first[1] + j, first[2] + k) for i, j, k in _positions(size)]
        yield [p for p in indices if all(i < blocks for i, blocks in zip(p, grid))]


def _spread(count: int, samples: int) -> list[int]:
    """Return numbers below ``count``: the first, the last, and others between them."""
    last = max(samples - 1, 1)
    return list(dict.fromkeys((count - 1) * k // last for k in range(samples)))


def _link_cluster(blocks: list[RunningBlock], size: Dim3) -> list[RunningBlock]:
    """Make the blocks of a cluster accessible to each other."""
    for block in blocks:
        block.cluster = blocks
        for running in block.live_threads:
            running.thread.clusterDim, running.thread.cluster = size, blocks
    return blocks

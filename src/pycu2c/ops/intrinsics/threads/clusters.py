"""Thread block clusters, with the names of CUDA's cooperative groups.

The blocks of a cluster run concurrently and can access each other's shared memory. The front end
expands all functions but the barrier, from ``blockIdx`` and the kernel option ``cluster``. The
bodies are for the reference interpreter.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import array, form
from pycu2c.ops.intrinsics.memory.allocation import uninitialised
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, Thread
from pycu2c.ops.intrinsics.registry import Effect, intrinsic


class Extents(NamedTuple):
    """Integers along three axes."""

    x: int
    y: int
    z: int


PREFIX = "cuda.cg.this_cluster"
ARCH = "sm_90"  # the first GPUs with clusters


@intrinsic(
    f"{PREFIX}.sync",
    effect=Effect.CLUSTER,
    arch=ARCH,
    cuda=lambda _a, _t: c.CallExpr("cluster_sync", ()),
)
def cluster_sync() -> None:
    """Wait until every thread of the cluster has reached the barrier.

    Their earlier writes are then visible to all of them.
    """


def _block_index(thread: Thread) -> Extents:
    return Extents(*(block % size for block, size in zip(thread.blockIdx, thread.clusterDim)))


@intrinsic(f"{PREFIX}.block_index", effect=Effect.FORM, arch=ARCH)
def block_index() -> form:
    """Return the index of the block in its cluster, as (x, y, z)."""
    return _block_index(REFERENCE_STATE.current())


@intrinsic(f"{PREFIX}.dim_blocks", effect=Effect.FORM, arch=ARCH)
def dim_blocks() -> form:
    """Return the blocks per cluster, as (x, y, z): the kernel option ``cluster``."""
    return Extents(*REFERENCE_STATE.current().clusterDim)


@intrinsic(f"{PREFIX}.thread_index", effect=Effect.FORM, arch=ARCH)
def thread_index() -> form:
    """Return the index of the thread in its cluster, as (x, y, z)."""
    thread = REFERENCE_STATE.current()
    axes = zip(_block_index(thread), thread.blockDim, thread.threadIdx)
    return Extents(*(block * size + index for block, size, index in axes))


@intrinsic(f"{PREFIX}.dim_threads", effect=Effect.FORM, arch=ARCH)
def dim_threads() -> form:
    """Return the threads per cluster, as (x, y, z)."""
    thread = REFERENCE_STATE.current()
    return Extents(*(blocks * size for blocks, size in zip(thread.clusterDim, thread.blockDim)))


@intrinsic(f"{PREFIX}.block_rank", effect=Effect.FORM, arch=ARCH)
def block_rank() -> form:
    """Return the rank of the block in its cluster, x fastest."""
    thread = REFERENCE_STATE.current()
    (x, y, z), (width, height, _) = _block_index(thread), thread.clusterDim
    return x + width * (y + height * z)


@intrinsic(f"{PREFIX}.num_blocks", effect=Effect.FORM, arch=ARCH)
def num_blocks() -> form:
    """Return the number of blocks of the cluster."""
    return math.prod(REFERENCE_STATE.current().clusterDim)


@intrinsic(f"{PREFIX}.thread_rank", effect=Effect.FORM, arch=ARCH)
def thread_rank() -> form:
    """Return the rank of the thread in its cluster: block after block, each x fastest."""
    thread = REFERENCE_STATE.current()
    return block_rank.reference() * math.prod(thread.blockDim) + thread.rank


@intrinsic(f"{PREFIX}.num_threads", effect=Effect.FORM, arch=ARCH)
def num_threads() -> form:
    """Return the number of threads of the cluster."""
    return num_blocks.reference() * math.prod(REFERENCE_STATE.current().blockDim)


@intrinsic(f"{PREFIX}.map_shared_rank", effect=Effect.FORM, arch=ARCH)
def map_shared_rank(array: array, rank: int) -> form:
    """Return the same shared array, or view of one, of the block with rank ``rank`` in the cluster.

    The block must have started, and must not end before the last access: call ``sync`` before the
    first access and after the last one.
    """
    thread = REFERENCE_STATE.current()
    block = thread.cluster[int(rank)]
    if not block.live_threads:
        raise RuntimeError(
            f"block {block.position} has ended, and its shared memory is freed: synchronize the "
            "cluster after the last access, with cluster.sync()"
        )
    return _in_memory(array, thread.memory, block.memory)


def _in_memory(array: Any, own: dict[Any, Any], other: dict[Any, Any]) -> Any:
    """Return the array in the memory of another block at the same offset as ``array``."""
    address = array.__array_interface__["data"][0]
    for site, base in own.items():
        offset = address - base.__array_interface__["data"][0]
        if 0 <= offset < base.nbytes:
            if site not in other:  # the block has not allocated it yet
                other[site] = uninitialised(base.shape, base.dtype)
            return np.ndarray(array.shape, array.dtype, other[site], offset, array.strides)
    raise TypeError("map_shared_rank takes a shared array of the thread's own block")


class Cluster:
    """The result of ``cuda.cg.this_cluster()``."""

    sync = cluster_sync
    block_index = block_index
    dim_blocks = dim_blocks
    thread_index = thread_index
    dim_threads = dim_threads
    block_rank = block_rank
    num_blocks = num_blocks
    thread_rank = thread_rank
    num_threads = num_threads
    map_shared_rank = map_shared_rank


@intrinsic(PREFIX, effect=Effect.FORM, arch=ARCH)
def this_cluster() -> form:
    """Return the cluster of the block; ``@kernel(cluster=…)`` sets its size.

    The blocks synchronize with ``cuda.cg.this_cluster().sync()``, and access each other's shared
    arrays with ``cuda.cg.this_cluster().map_shared_rank(array, rank)``.
    """
    return Cluster

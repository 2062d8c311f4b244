"""Linear indices of threads and blocks: device functions in the kernel language."""

from __future__ import annotations

from typing import Any

from pycu2c import cuda


def thread_index() -> Any:
    """Return the linear index of the thread in its block."""
    rows = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
    return cuda.threadIdx.x + rows * cuda.blockDim.x


def thread_count() -> Any:
    """Return the number of threads of a block."""
    return cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


def block_index() -> Any:
    """Return the linear index of the block in the grid."""
    layers = cuda.blockIdx.y + cuda.blockIdx.z * cuda.gridDim.y
    return cuda.blockIdx.x + layers * cuda.gridDim.x


def block_of_rank(rank: Any, extents: Any) -> Any:
    """Return the linear index of a block of the cluster, which has these extents."""
    x = cuda.blockIdx.x - cuda.blockIdx.x % extents[0] + rank % extents[0]
    y = cuda.blockIdx.y - cuda.blockIdx.y % extents[1] + rank // extents[0] % extents[1]
    z = cuda.blockIdx.z - cuda.blockIdx.z % extents[2] + rank // (extents[0] * extents[1])
    return x + (y + z * cuda.gridDim.y) * cuda.gridDim.x

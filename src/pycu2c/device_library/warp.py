"""Reductions and scans of the values of a warp: ``pycu2c.cuda.warp``.

Values are numbers, vectors, or tuples of them. The last warp of a block may have fewer than 32
threads. All threads of a warp must call a function; values are combined in the order of the lanes,
so an operation has to be associative, but not commutative.
"""

from __future__ import annotations

import operator
from typing import Any

from pycu2c import cuda
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.kernels.kernel import device

ALL_LANES = 0xFFFFFFFF
WARP_SIZE = 32


@device
def thread_rank() -> Any:
    """Return the rank of the thread in its block, x fastest."""
    row = cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
    return cuda.threadIdx.x + cuda.blockDim.x * row


@device
def block_threads() -> Any:
    """Return the number of threads of the block."""
    return cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


@device
def warp_threads() -> Any:
    """Return the number of threads of the warp: 32, or fewer in the last warp of a block."""
    return min(WARP_SIZE, block_threads() - thread_rank() // WARP_SIZE * WARP_SIZE)


@device
def reduce_lanes(value: Any, op: Any, lanes: Any) -> Any:
    """Combine the values of the first lanes of a warp; lane 0 has the result."""
    for step in range(5):
        distance = 1 << step
        other = cuda.shfl_down_sync(ALL_LANES, value, distance)
        if cuda.laneid + distance < lanes:
            value = op(value, other)
    return value


@device
def reduce(value: Any, op: Any = operator.add) -> Any:
    """Combine the values of a warp; lane 0 has the result, other lanes a part of it.

    Returns
    -------
    number, vector or tuple
        The combined value in lane 0; a part of it elsewhere.
    """
    return reduce_lanes(value, op, warp_threads())


@device
def all_reduce(value: Any, op: Any = operator.add) -> Any:
    """Combine the values of a warp; all lanes have the result.

    Returns
    -------
    number, vector or tuple
        The combined value.
    """
    return cuda.shfl_sync(ALL_LANES, reduce(value, op), 0)


@device
def inclusive_scan(value: Any, op: Any = operator.add) -> Any:
    """Combine the values of the lanes up to this one.

    Returns
    -------
    number, vector or tuple
        The prefix that includes the value.
    """
    for step in range(5):
        distance = 1 << step
        other = cuda.shfl_up_sync(ALL_LANES, value, distance)
        if cuda.laneid >= distance:
            value = op(other, value)
    return value


@device
def exclusive_scan(value: Any, op: Any = operator.add, initial: Any = 0) -> Any:
    """Combine an initial value and the values of the lanes below this one.

    Returns
    -------
    number, vector or tuple
        The prefix without the value.
    """
    before = cuda.shfl_up_sync(ALL_LANES, inclusive_scan(value, op), 1)
    if cuda.laneid == 0:
        before = initial
    else:
        before = op(initial, before)
    return before


document_parameters(
    globals(),
    """
value : number, vector or tuple | The value of this thread.
op : callable | An associative operation, such as ``operator.add``, ``min``, or a device function.
initial : number, vector or tuple | The result of lane 0, with which the others begin.
""",
)

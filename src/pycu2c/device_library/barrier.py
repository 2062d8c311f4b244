"""Implement ``pycu2c.cuda.barrier``: barriers in shared memory, as ``cuda::barrier`` in CUDA C++.

A barrier is an element of a shared array of ``uint64``. Each phase ends when the expected number of
threads has arrived and all expected bytes of asynchronous copies have been written. On the CPU, the
element has the fields below, which threads update by compare-and-swap.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.types import int32, int64, uint64
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.instructions import ADDRESS_HELPER
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

# ---- the fields of a barrier on the CPU ----------------------------------------------------------

COUNT_BITS = 20  # of pending arrivals in the lowest bits, and of expected ones above them
COUNTS = (1 << COUNT_BITS) - 1
BYTES_SHIFT = 2 * COUNT_BITS  # of the pending bytes, to which NO_BYTES is added
NO_BYTES = 1 << 21
BYTES = (1 << 22) - 1
PHASE_SHIFT = BYTES_SHIFT + 22  # of the parity of the current phase


@device
def _packed(parity: Any, pending_bytes: Any, expected: Any, pending: Any) -> Any:
    """Return a barrier from its fields."""
    counts = (expected << COUNT_BITS) + pending
    return uint64((parity << PHASE_SHIFT) + ((pending_bytes + NO_BYTES) << BYTES_SHIFT) + counts)


@device
def _parity(state: Any) -> Any:
    """Return the parity of the current phase."""
    return int64(state) >> PHASE_SHIFT & 1


@device
def _updated(state: Any, arrivals: Any, expected_bytes: Any) -> Any:
    """Return a barrier after arrivals and a change of the expected bytes."""
    fields = int64(state)
    expected = fields >> COUNT_BITS & COUNTS
    pending = (fields & COUNTS) - arrivals
    pending_bytes = (fields >> BYTES_SHIFT & BYTES) - NO_BYTES + expected_bytes
    if pending == 0 and pending_bytes == 0:
        return _packed(1 - _parity(state), 0, expected, expected)
    return _packed(_parity(state), pending_bytes, expected, pending)


@device
def _current(bar: Any, index: Any) -> Any:
    """Load the state of a barrier that other threads update."""
    return cuda.atomic.add(bar, index, uint64(0))


@device
def update(bar: Any, index: Any, arrivals: Any, expected_bytes: Any) -> Any:
    """Update a barrier on the CPU; return its previous state."""
    cuda.threadfence()
    state = _current(bar, index)
    while True:
        found = cuda.atomic.cas(bar, index, state, _updated(state, arrivals, expected_bytes))
        if found == state:
            break
        state = found
    return state


@device
def _wait_for_end(bar: Any, index: Any, parity: Any) -> None:
    """Wait on the CPU until the phase with a parity has ended."""
    while _parity(_current(bar, index)) == parity:
        pass
    cuda.threadfence()


# ---- the functions -------------------------------------------------------------------------------

_BARRIER = (uint64[::1], int32)


@c_function(
    cuda="""
    asm volatile("mbarrier.init.shared.b64 [%0], %1;"
                 :: "r"(shared_address(bar + index)), "r"(count) : "memory");
    #if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    #endif
    """,
    preamble=ADDRESS_HELPER,
    signature=(*_BARRIER, int32),
)
def init(bar: Any, index: Any, count: Any) -> None:
    """Initialize a barrier, in one thread.

    Synchronize the block, or the cluster, before other threads use it.
    """
    bar[index] = _packed(int64(0), int64(0), int64(count), int64(count))
    cuda.threadfence()


@c_function(
    cuda="""
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token) : "r"(shared_address(bar + index)) : "memory");
    return token;
    """,
    preamble=ADDRESS_HELPER,
    signature=uint64(*_BARRIER),
)
def arrive(bar: Any, index: Any) -> Any:
    """Arrive at a barrier without waiting.

    Returns
    -------
    uint64
        A token of the current phase, for ``wait``.
    """
    return update(bar, index, 1, 0)


@c_function(
    cuda="""
    unsigned long long token;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                 : "=l"(token) : "r"(shared_address(bar + index)), "r"(nbytes) : "memory");
    return token;
    """,
    preamble=ADDRESS_HELPER,
    signature=uint64(*_BARRIER, int32),
)
def arrive_expect_tx(bar: Any, index: Any, nbytes: Any) -> Any:
    """Arrive at a barrier whose phase ends after asynchronous copies of ``nbytes`` more bytes.

    Returns
    -------
    uint64
        A token of the current phase, for ``wait``.
    """
    return update(bar, index, 1, nbytes)


@c_function(
    cuda="""
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;"
                 :: "r"(shared_address(bar + index)), "r"(nbytes) : "memory");
    """,
    preamble=ADDRESS_HELPER,
    signature=(*_BARRIER, int32),
)
def expect_tx(bar: Any, index: Any, nbytes: Any) -> None:
    """Let the current phase end after asynchronous copies of ``nbytes`` more bytes."""
    update(bar, index, 0, nbytes)


# the hardware suspends a waiting thread for a limited time, so the instruction is repeated
_WAIT = """
unsigned ended;
do {{
    asm volatile("{{ .reg .pred p;"
#if __CUDA_ARCH__ >= 900
                 " mbarrier.try_wait{parity}.shared.b64 p, [%1], %2;"
#else
                 " mbarrier.test_wait{parity}.shared.b64 p, [%1], %2;"
#endif
                 " selp.u32 %0, 1, 0, p; }}"
                 : "=r"(ended)
                 : "r"(shared_address(bar + index)), "{constraint}"({operand}) : "memory");
}} while (!ended);
"""


@c_function(
    cuda=_WAIT.format(parity="", constraint="l", operand="token"),
    preamble=ADDRESS_HELPER,
    signature=(*_BARRIER, uint64),
)
def wait(bar: Any, index: Any, token: Any) -> None:
    """Wait until the phase of a token has ended; what arriving threads wrote is then visible."""
    _wait_for_end(bar, index, _parity(token))


@c_function(
    cuda=_WAIT.format(parity=".parity", constraint="r", operand="parity"),
    preamble=ADDRESS_HELPER,
    signature=(*_BARRIER, int32),
)
def wait_parity(bar: Any, index: Any, parity: Any) -> None:
    """Wait until the phase with a parity has ended: 0 for the first phase, 1 for the second.

    It returns at once if the current phase has the other parity, as a new barrier for parity 1.
    """
    _wait_for_end(bar, index, int64(parity))


@device
def arrive_and_wait(bar: Any, index: Any) -> None:
    """Arrive at a barrier, and wait until the phase has ended."""
    wait(bar, index, arrive(bar, index))


document_parameters(
    globals(),
    """
bar : array of uint64 | A shared array of barriers.
index : int | The position of the barrier.
count : int | The number of arrivals that end a phase, below 2**20.
nbytes : int | The number of bytes, below 2**20.
token : uint64 | The result of an arrival.
parity : {0, 1} | The parity of the number of the phase.
""",
)

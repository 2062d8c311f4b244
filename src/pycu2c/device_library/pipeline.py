"""Implement ``pycu2c.cuda.pipeline``: copies to shared memory that each thread starts (sm_80).

The names are those of CUDA's pipeline primitives, without ``__pipeline_``. Threads wait for groups
of copies, or at a barrier (``cuda.barrier``). The CPU copies at once.
"""

from __future__ import annotations

from typing import Any

from pycu2c.base.types import int32
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.instructions import ADDRESS_HELPER, instruction
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device


def _copier(size: int, types: tuple[Any, Any]) -> Any:
    """Return the function that copies ``size`` bytes."""
    if size not in (4, 8, 16):
        raise ValueError(f"a copy has 4, 8 or 16 bytes, not {size}")
    if types[0] != types[1] or size % types[0].dtype.size:
        raise TypeError(f"no copy of {size} bytes from an array of {types[1]} to one of {types[0]}")
    itemsize = types[0].dtype.size
    cache = "cg" if size == 16 else "ca"

    @c_function(
        cuda=f"""
        asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size}, %2;"
                     :: "r"(shared_address(destination)), "l"(__cvta_generic_to_global(source)),
                        "r"((int)({size} - zfill)) : "memory");
        """,
        preamble=ADDRESS_HELPER,
    )
    def copy(destination: Any, source: Any, zfill: Any) -> None:
        for n in range(size // itemsize):
            destination[n] = source[n] if (n + 1) * itemsize <= size - zfill else 0

    return copy


@device
def memcpy_async(destination: Any, source: Any, size: Any, zfill: Any = 0) -> None:
    """Start a copy from global to shared memory of the first bytes of two arrays.

    On a GPU both arrays are contiguous, and begin at a multiple of ``size`` bytes.
    """
    _copier(size, (destination.dtype, source.dtype))(destination, source, int32(zfill))


@device
def commit() -> None:
    """Make a group of the copies that this thread has started."""
    instruction("cp.async.commit_group")()


@device
def wait_prior(pending: Any) -> None:
    """Wait until all groups of this thread but the last ``pending`` ones are complete.

    Other threads see the copies after a synchronization that follows.
    """
    instruction("cp.async.wait_group", pending)()


@c_function(
    cuda="""
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];"
                 :: "r"(shared_address(bar + index)) : "memory");
    """,
    preamble=ADDRESS_HELPER,
)
def _arrive_on(bar: Any, index: Any) -> None:
    return


@device
def arrive_on(bar: Any, index: Any) -> None:
    """Let the current phase of a barrier end only after the copies that this thread has started.

    It is not an arrival: the thread calls ``barrier.arrive`` afterwards.
    """
    _arrive_on(bar, int32(index))


document_parameters(
    globals(),
    """
destination : array | A view of a shared array: ``tile[row, column:]``.
source : array | A view of an array in global memory, with the same type of elements.
size : {4, 8, 16} | The number of bytes, a compile-time constant.
zfill : int | The number of bytes at the end that become 0 instead. They are not read.
pending : int | A compile-time constant.
bar : array of uint64 | A shared array of barriers.
index : int | The position of the barrier.
""",
)

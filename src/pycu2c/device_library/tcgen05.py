"""Implement ``pycu2c.cuda.tcgen05``: products of tiles in tensor memory (sm_100a, Blackwell).

A block has a tensor memory of 128 lanes and 512 columns of 32 bits. A product ``d += a @ b`` has
128 rows, one in each lane, and its columns are columns of the memory. The factors are tiles in
shared memory as those of ``wgmma``. One thread starts products, which run asynchronously;
``commit`` arrives at a barrier when they are complete. On the CPU they run at once, and tensor
memory is a shared array.
"""

from __future__ import annotations

import math
from typing import Any

from pycu2c import cuda
from pycu2c.base.types import Scalar, bfloat16, float16, float32, int32, uint32, uint64
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library import barrier
from pycu2c.device_library.instructions import ADDRESS_HELPER, instruction
from pycu2c.device_library.tensor_cores import (
    TILE_DESCRIPTOR,
    SharedFactor,
    factor_type,
    number_of_tile,
)
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

ROWS = 128  # of a product; the lanes of tensor memory
COLUMNS = 512

# ---- tensor memory on the CPU --------------------------------------------------------------------


@c_function(cuda="return 0;", signature=float32(int32, int32, float32, int32))
def _exchange(column: Any, row: Any, value: Any, stores: Any) -> Any:
    """Return an element of the block's tensor memory; replace it if ``stores`` is not 0."""
    memory = cuda.shared.array((COLUMNS, ROWS), float32)
    if stores != 0:
        memory[column, row] = value
    return memory[column, row]


@device
def _add_product(
    address: Any, a: Any, b: Any, columns: Any, depth: Any, kind: Any, majors: Any, accumulate: Any
) -> None:
    """Add the product of two tiles to elements of tensor memory, or store it there."""
    for row in range(ROWS):
        for column in range(columns):
            total = float32(0)
            if accumulate != 0:
                total = _exchange(address + column, row, total, 0)
            for k in range(depth):
                left = number_of_tile(a, k, row, kind, majors[0])
                total += left * number_of_tile(b, k, column, kind, majors[1])
            _exchange(address + column, row, total, 1)


# ---- instructions --------------------------------------------------------------------------------

_DESCRIPTOR_VERSION = "(1ull << 46)"  # in descriptors of tiles that tcgen05 reads
_FORMATS = {float16: 0, bfloat16: 1}  # of the factors, in the descriptor of an instruction


def _instruction_descriptor(element: Scalar, columns: int, majors: tuple[str, str]) -> int:
    """Return the descriptor of a product with an accumulator of float32."""
    transposed = [int(major == "mn") for major in majors]
    factors = _FORMATS[element] << 7 | _FORMATS[element] << 10
    sizes = columns // 8 << 17 | ROWS // 16 << 24
    return 1 << 4 | factors | transposed[0] << 15 | transposed[1] << 16 | sizes


def _extents(tile: tuple[int, ...], major: str) -> tuple[int, int]:
    """Return the rows or columns of a product, and its depth, by the shape of a tile."""
    *panels, lines, width = tile
    wide = width * math.prod(panels)
    return (wide, lines) if major == "mn" else (lines, wide)


def _multiplier(
    types: tuple[Scalar, Scalar],
    a_shape: tuple[int, ...],
    b_shape: tuple[int, ...],
    majors: tuple[str, str],
) -> Any:
    """Return the function that starts a product of tiles."""
    (rows, depth), (columns, b_depth) = map(_extents, (a_shape, b_shape), majors)
    if types[0] not in _FORMATS or types[0] != types[1]:
        raise TypeError("the factors are two of float16 or bfloat16")
    if columns % 16 or not 16 <= columns <= 256:
        raise ValueError(f"the columns are a multiple of 16 up to 256, not {columns}")
    if rows != ROWS or depth != b_depth:
        raise ValueError(f"the factors are {rows} x {depth} and {b_depth} x {columns}")
    element = factor_type((float32, *types), "e4m3")
    a = SharedFactor("a", len(a_shape), element, majors[0])
    b = SharedFactor("b", len(b_shape), element, majors[1])
    descriptor = _instruction_descriptor(types[0], columns, majors)
    text = f"""
{a.declaration}
{b.declaration}
#pragma unroll
for (int k = 0; k < {a.depth}; ++k)
    asm volatile(
        "{{ .reg .pred p; setp.ne.b32 p, %4, 0;"
        " tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }}"
        :: "r"(address), "l"({_DESCRIPTOR_VERSION} + ({a.step})),
           "l"({_DESCRIPTOR_VERSION} + ({b.step})), "r"({descriptor}), "r"(accumulate | k)
        : "memory");
"""

    @c_function(cuda=text, preamble=TILE_DESCRIPTOR)
    def multiply(address: Any, a: Any, b: Any, accumulate: Any) -> None:
        _add_product(address, a, b, columns, depth, element.name, majors, accumulate)

    return multiply


def _loader(count: int) -> Any:
    """Return the function that loads ``count`` columns of the thread's lane."""
    if count not in (1, 2, 4, 8, 16, 32, 64, 128):
        raise ValueError(f"the length is a power of two up to 128, not {count}")
    numbers = ", ".join(f"%{n}" for n in range(count))
    operands = ", ".join(f'"=f"(d[{n}])' for n in range(count))
    # the wait is part of the statement, because the compiler may move uses of the registers
    text = f"""
asm volatile("tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {{{numbers}}}, [%{count}];"
             " tcgen05.wait::ld.sync.aligned;"
             : {operands}
             : "r"(address + ((threadIdx.x & 96) << 16)) : "memory");
"""

    @c_function(cuda=text)
    def load(d: Any, address: Any) -> None:
        for n in range(count):
            d[n] = _exchange(int32(address) + n, cuda.threadIdx.x % ROWS, float32(0), 0)
        cuda.syncwarp()

    return load


def _allocator(columns: int) -> Any:
    """Return the function that allocates columns."""
    _check_columns(columns)

    @c_function(
        cuda=f"""
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], {columns};"
                     " tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
                     :: "r"(shared_address(slot + index)) : "memory");
        """,
        preamble=ADDRESS_HELPER,
    )
    def allocate(slot: Any, index: Any) -> None:
        slot[index] = 0
        cuda.syncwarp()

    return allocate


def _check_columns(columns: int) -> None:
    if columns not in (32, 64, 128, 256, 512):
        raise ValueError(f"the columns are 32, 64, 128, 256 or 512, not {columns}")


def _deallocator(columns: int) -> Any:
    _check_columns(columns)
    text = f'asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, {columns};"'

    @c_function(cuda=f'{text} :: "r"(address) : "memory");', signature=(uint32,))
    def deallocate(address: Any) -> None:
        cuda.syncwarp()

    return deallocate


# ---- the functions -------------------------------------------------------------------------------


@device
def alloc(slot: Any, index: Any, columns: Any) -> None:
    """Allocate columns of tensor memory, and store the address in ``slot``; one warp calls it.

    A block allocates once. Synchronize it before other threads read the address; the address of
    column n is ``slot[index] + n``.
    """
    _allocator(columns)(slot, int32(index))


@device
def dealloc(address: Any, columns: Any) -> None:
    """Free the columns that ``alloc`` has allocated; one warp calls it, before the kernel ends."""
    _deallocator(columns)(uint32(address))


@device
def mma(
    address: Any, a: Any, b: Any, a_major: Any = "k", b_major: Any = "k", accumulate: Any = True
) -> None:
    """Start ``d += a @ b`` in tensor memory, or ``d = a @ b``; one thread calls it.

    Products of a thread run in order. Threads that have written to the tiles themselves call
    ``tma.fence_proxy_async``, and synchronize before the product.
    """
    _multiplier((a.dtype, b.dtype), a.shape, b.shape, (a_major, b_major))(
        uint32(address), a, b, int32(accumulate)
    )


@c_function(
    cuda="""
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 :: "r"(shared_address(bar + index)) : "memory");
    """,
    preamble=ADDRESS_HELPER,
    signature=(uint64[::1], int32),
)
def commit(bar: Any, index: Any) -> None:
    """Let a barrier have one arrival when the products of this thread are complete."""
    barrier.update(bar, index, 1, 0)


@device
def ld(d: Any, address: Any) -> None:
    """Load columns from the thread's lane; all threads of a warp call it, and wait.

    Thread t of the block loads row ``t % 128`` of a product; element n is in column n.
    """
    _loader(d.shape[0])(d, uint32(address))


@device
def fence_before_thread_sync() -> None:
    """Order operations on tensor memory before a synchronization that follows."""
    instruction("tcgen05.fence::before_thread_sync")()


@device
def fence_after_thread_sync() -> None:
    """Order operations on tensor memory after a synchronization, as a wait for a barrier."""
    instruction("tcgen05.fence::after_thread_sync")()


document_parameters(
    globals(),
    """
slot : array of uint32 | A shared array.
index : int | The position in ``slot`` or ``bar``.
columns : int | A power of two from 32 to 512; a compile-time constant.
address : uint32 | The address of the first column.
a : array | The left factor: a tile of 128 rows, of float16 or bfloat16.
b : array | The right factor: a tile of the same type, with a multiple of 16 columns up to 256.
a_major, b_major : {"k", "mn"} | The dimension along the rows of a tile: the depth of the product,
  or the rows of ``a`` and the columns of ``b``.
accumulate : bool | Whether the product is added to the elements.
bar : array of uint64 | A shared array of barriers.
d : array | A local array of float32 with 1, 2, 4, … or 128 elements.
""",
)

"""Implement ``pycu2c.cuda.wgmma``: products of tiles by the tensor cores of a warpgroup (sm_90a).

A warpgroup is four warps, from a multiple of four. It computes 64 rows: ``d += a @ b``. The factors
are tiles in shared memory as ``cuda.tma`` loads them, in rows of 32, 64 or 128 bytes with the
swizzle of that width. A tile with longer rows is an array of panels, ``tile[panel, row, column]``.
The accumulator ``d`` and, optionally, ``a`` are local arrays, in which each thread has the elements
of ``position``. On a GPU the products run asynchronously, on the CPU at once.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.types import Scalar, int32
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.instructions import instruction
from pycu2c.device_library.tensor_cores import (
    STEP_BYTES,
    TILE_DESCRIPTOR,
    FactorType,
    SharedFactor,
    accumulator_position,
    factor_type,
    left_number,
    number_of_tile,
    registers,
)
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device


@device
def position(n: Any) -> Any:
    """Return the row and the column of element ``n`` of this thread's accumulator.

    Returns
    -------
    tuple of int
        The row from 0 to 63, and the column.
    """
    row, column = accumulator_position(n)
    return cuda.threadIdx.x // 32 % 4 * 16 + row, column


# ---- products on the CPU -------------------------------------------------------------------------


@device
def _add_product_of_tiles(d: Any, a: Any, b: Any, depth: Any, kind: Any, majors: Any) -> None:
    """Add the product of two tiles to this thread's elements."""
    for n in range(d.shape[0]):
        row, column = position(n)
        for k in range(depth):
            left = number_of_tile(a, k, row, kind, majors[0])
            d[n] += left * number_of_tile(b, k, column, kind, majors[1])


@device
def _add_product_of_registers(d: Any, a: Any, b: Any, major: Any) -> None:
    """Add the product of a fragment and a tile; four lanes hold the elements of a row."""
    for k in range(2 * a.shape[0]):
        for half in range(2):
            left = left_number(a, k, half, "")
            for pair in range(2 * half, d.shape[0], 4):
                for n in range(pair, pair + 2):
                    d[n] += left * number_of_tile(b, k, position(n)[1], "", major)


# ---- instructions --------------------------------------------------------------------------------


def _multiplier(
    width: int, types: tuple[Scalar, ...], ndims: tuple[int, int], majors: tuple[str, str],
    float8: str, accumulate: bool,
) -> Any:  # fmt: skip
    """Return the function that computes a product of ``width`` columns in an accumulator."""
    element = factor_type(types, float8)
    if width % 8 or not 8 <= width <= 256:
        raise ValueError(f"the columns are a multiple of 8 up to 256, not {width}")
    if "mn" in majors and element.size != 2:
        raise ValueError("a_major and b_major are 'k', but for elements of two bytes")
    text = _product_text(width, element, ndims, majors, accumulate=accumulate)
    kind, a_ndim = element.name, ndims[0]

    @c_function(cuda=text, preamble=TILE_DESCRIPTOR)
    def multiply(d: Any, a: Any, b: Any) -> None:
        if not accumulate:
            for n in range(d.shape[0]):
                d[n] = 0
        if a_ndim == 1:
            _add_product_of_registers(d, a, b, majors[1])
        elif majors[0] == "mn":
            _add_product_of_tiles(d, a, b, a.shape[a_ndim - 2], kind, majors)
        else:
            depth = a.shape[a_ndim - 1] * (a.shape[0] if a_ndim == 3 else 1)
            _add_product_of_tiles(d, a, b, depth, kind, majors)

    return multiply


def _product_text(
    width: int, element: FactorType, ndims: tuple[int, int], majors: tuple[str, str], *,
    accumulate: bool,
) -> str:  # fmt: skip
    """Return the C of a product: a ``wgmma.mma_async`` for each step of the depth."""
    kind, count, (a_ndim, b_ndim), (a_major, b_major) = element.name, width // 2, ndims, majors
    totals = ", ".join(f"%{n}" for n in range(count))
    b = SharedFactor("b", b_ndim, element, b_major)
    declarations, steps = b.declaration, b.depth
    if a_ndim == 1:
        left = f"{{{', '.join(f'%{count + n}' for n in range(4))}}}"
        operands = ", ".join(f'"r"(a_words[4 * k + {n}])' for n in range(4))
        declarations = f"const unsigned *a_words = (const unsigned *)a;\n{declarations}"
        right = count + 4
    else:
        a = SharedFactor("a", a_ndim, element, a_major)
        declarations, steps = f"{a.declaration}\n{declarations}", a.depth
        left, operands = f"%{count}", f'"l"({a.step})'
        right = count + 1
    modifiers = "" if element.total == int32 else ", 1, 1"  # the signs of the factors
    if element.size == 2:
        transposed = majors[1:] if a_ndim == 1 else majors  # factors in registers are not
        modifiers += "".join(f", {int(major == 'mn')}" for major in transposed)
    depth = STEP_BYTES // element.size
    return f"""
{declarations}
#pragma unroll
for (int k = 0; k < {steps}; ++k)
    asm volatile(
        "{{ .reg .pred p; setp.ne.b32 p, %{right + 1}, 0;"
        " wgmma.mma_async.sync.aligned.m64n{width}k{depth}.{element.total_name}.{kind}.{kind}"
        " {{{totals}}}, {left}, %{right}, p{modifiers}; }}"
        : {registers("d", count, element.total)}
        : {operands}, "l"({b.step}), "r"({"1" if accumulate else "k"}));
"""


def _waiter(pending: int, count: int, total: Scalar) -> Any:
    """Return the function that waits for products; ``count``: the elements of the accumulator."""
    operands = registers("d", count, total)
    wait = f'asm volatile("wgmma.wait_group.sync.aligned {pending};" : {operands} :: "memory");'

    @c_function(cuda=wait)
    def wait_for_products(d: Any) -> None:
        cuda.syncwarp()

    return wait_for_products


# ---- the functions -------------------------------------------------------------------------------


@device
def mma_async(
    d: Any, a: Any, b: Any, a_major: Any = "k", b_major: Any = "k", float8: Any = "e4m3",
    accumulate: Any = True,
) -> None:  # fmt: skip
    """Start ``d += a @ b`` of a warpgroup, or ``d = a @ b``; all its threads call it.

    The columns are ``2 * d.size``, a multiple of 8 up to 256. Before the first product, and after
    other accesses to ``d``, call ``fence``; afterwards ``commit_group``, and ``wait_group`` before
    ``d`` is read and the tiles are overwritten.
    """
    _multiplier(
        2 * d.shape[0], (d.dtype, a.dtype, b.dtype), (a.ndim, b.ndim), (a_major, b_major),
        float8, accumulate,
    )(d, a, b)  # fmt: skip


@device
def fence() -> None:
    """Order accesses to accumulators before the products that follow."""
    instruction("wgmma.fence.sync.aligned")()


@device
def commit_group() -> None:
    """Make a group of the products that this warpgroup has started."""
    instruction("wgmma.commit_group.sync.aligned")()


@device
def wait_group(pending: Any, d: Any = None) -> None:
    """Wait until at most ``pending`` groups of products are not complete.

    ``d`` is complete afterwards. Omit it where only the tiles are used again.
    """
    if d is None:
        _waiter(pending, 0, int32)(int32(pending))
    else:
        _waiter(pending, d.shape[0], d.dtype)(d)


@device
def setmaxnreg_inc(count: Any) -> None:
    """Increase the registers of each thread of this warpgroup; wait until they are free.

    It has an effect in kernels with ``launch_bounds`` of two numbers, or ``max_registers``.
    It never returns if the threads of the block would have more than 65,536 registers in all.
    """
    instruction("setmaxnreg.inc.sync.aligned.u32", count)()


@device
def setmaxnreg_dec(count: Any) -> None:
    """Decrease the registers of each thread of this warpgroup, so that others can use them."""
    instruction("setmaxnreg.dec.sync.aligned.u32", count)()


document_parameters(
    globals(),
    """
n : int | The position in the accumulator.
d : array | The accumulator: a local array of float32, or of int32 for factors of int8 or uint8.
a : array | The left factor: a tile of 64 rows, or a local array of float16 or bfloat16 with the
  elements of ``position``.
b : array | The right factor, a tile.
a_major, b_major : {"k", "mn"} | The dimension along the rows of a tile: the depth of the product,
  or the rows of ``a`` and the columns of ``b``. The latter is for elements of two bytes.
float8 : {"e4m3", "e5m2"} | The format of factors of uint8.
accumulate : bool | Whether the product is added to ``d``; a compile-time constant.
pending : int | A compile-time constant.
count : int | A compile-time constant, a multiple of 8 from 24 to 256.
""",
)

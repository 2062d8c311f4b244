"""Implement ``pycu2c.cuda.mma``: products by the tensor cores of a warp, as the PTX instructions.

Each thread has some elements of a matrix in a local array, a fragment. ``position`` returns which.
Fragments are loaded from shared memory by ``ldmatrix``, or element by element.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.types import Scalar, int32
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.instructions import ADDRESS_HELPER
from pycu2c.device_library.tensor_cores import (
    ALL_LANES,
    STEP_BYTES,
    WORD,
    FactorType,
    accumulator_position,
    factor_type,
    left_number,
    number,
    registers,
)
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

# ---- products ------------------------------------------------------------------------------------

# before sm_80, where an instruction is missing; the loops are those of the Python body
_BY_SHUFFLES = """
#ifdef __CUDACC__
template <typename S, typename T>
__device__ void mma_by_shuffles(S *d, const T *a, const T *b, int depth, int blocks) {
    const int per_word = 4 / sizeof(T);
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    for (int k = 0; k < depth; ++k) {
        const int word = k / per_word, rest = k % per_word;
        for (int half = 0; half < 2; ++half) {
            const S own = (S)a[per_word * (2 * (word / 4) + half) + rest];
            const S left = __shfl_sync(0xffffffff, own, lane / 4 * 4 + word % 4);
            for (int n = 0; n < 2 * blocks; ++n) {
                const S other = (S)b[n / 2 * (depth / 4) + per_word * (word / 4) + rest];
                const int holder = 4 * (2 * (lane % 4) + n % 2) + word % 4;
                d[n / 2 * 4 + 2 * half + n % 2] += left * __shfl_sync(0xffffffff, other, holder);
            }
        }
    }
}
#endif
"""


def _instructions(factor: FactorType, depth: int, blocks: int, step: int) -> str:
    """Return C that adds a product of words by instructions with ``step`` bytes of the depth."""
    words = step // 16  # of b; a has twice as many
    of_a, of_b = depth * factor.size // 8, depth * factor.size // 16
    left = ", ".join(f"%{4 + n}" for n in range(2 * words))
    right = ", ".join(f"%{4 + 2 * words + n}" for n in range(words))
    operands = [f'"r"(a_words[{2 * words} * k + {n}])' for n in range(2 * words)]
    operands += [f'"r"(b_words[{of_b} * n + {words} * k + {n}])' for n in range(words)]
    total, kind = factor.total_name, factor.name
    return f"""
unsigned a_words[{of_a}], b_words[{of_b * blocks}];
memcpy(a_words, a, sizeof a_words);
memcpy(b_words, b, sizeof b_words);
#pragma unroll
for (int n = 0; n < {blocks}; ++n, d += 4)
    #pragma unroll
    for (int k = 0; k < {of_b // words}; ++k)
        asm volatile(
            "mma.sync.aligned.m16n8k{step // factor.size}.row.col.{total}.{kind}.{kind}.{total}"
            " {{%0, %1, %2, %3}}, {{{left}}}, {{{right}}}, {{%0, %1, %2, %3}};"
            : {registers("d", 4, factor.total)}
            : {", ".join(operands)});
"""


@device
def _right_number(b: Any, k: Any, start: Any, side: Any, kind: Any) -> Any:
    """Return element ``k`` of column ``laneid % 4 * 2 + side`` of a block, on the CPU."""
    per_word = WORD // b.dtype.itemsize
    word = k // per_word
    own = number(b[start + per_word * (word // 4) + k % per_word], kind)
    return cuda.shfl_sync(ALL_LANES, own, 4 * (2 * (cuda.laneid % 4) + side) + word % 4)


def _multiplier(types: tuple[Scalar, ...], lengths: tuple[int, ...], float8: str) -> Any:
    """Return the function that adds a product of fragments to an accumulator."""
    factor = factor_type(types, float8)
    (of_d, of_a, of_b), kind = lengths, factor.name
    blocks, depth = of_d // 4, 2 * of_a
    if of_d % 4 or depth * factor.size % 16 or not of_a or 4 * of_b != blocks * depth:
        raise ValueError(
            "the fragments have 4 * n, k / 2 and n * k / 4 elements for n blocks of 8 columns and "
            f"the depth k, in multiples of 16 bytes, not {of_d}, {of_a} and {of_b}"
        )
    step = STEP_BYTES if depth * factor.size % STEP_BYTES == 0 else STEP_BYTES // 2
    before_sm80 = f"mma_by_shuffles(d, a, b, {depth}, {blocks});"
    if kind == "f16":
        before_sm80 = _instructions(factor, depth, blocks, STEP_BYTES // 2)
    instructions = _instructions(factor, depth, blocks, step)

    @c_function(
        cuda=f"#if __CUDA_ARCH__ >= 800{instructions}#else\n{before_sm80}\n#endif",
        preamble=_BY_SHUFFLES,
    )
    def multiply(d: Any, a: Any, b: Any) -> None:
        for k in range(depth):
            for half in range(2):
                left = left_number(a, k, half, kind)
                for n in range(2 * blocks):
                    right = _right_number(b, k, n // 2 * (depth // 4), n % 2, kind)
                    d[n // 2 * 4 + 2 * half + n % 2] += left * right

    return multiply


@device
def mma_sync(d: Any, a: Any, b: Any, c: Any, float8: Any = "e4m3") -> None:
    """Compute ``d = a @ b + c`` of a warp, on fragments; all its threads call it.

    ``a`` has 16 rows of k elements, and ``b`` has k rows. The depth k is a multiple of 16 bytes;
    the instructions are ``m16n8k16`` for elements of two bytes, ``m16n8k8`` for float32 and
    ``m16n8k32`` for elements of a byte, or half of that depth.
    """
    for n in range(d.shape[0]):
        d[n] = c[n]
    _multiplier(
        (d.dtype, a.dtype, b.dtype), (d.shape[0], a.shape[0], b.shape[0]), float8
    )(d, a, b)  # fmt: skip


@device
def position(fragment: Any, use: Any, n: Any) -> Any:
    """Return the row and the column in the matrix of element ``n`` of this thread's fragment.

    Returns
    -------
    tuple of int
        The row and the column. In ``matrix_b``, the columns are those of the first block.
    """
    per_word = WORD // fragment.dtype.itemsize
    word, group = n // per_word, cuda.laneid // 4
    if use == "matrix_a":
        row, k = group + 8 * (word % 2), per_word * (cuda.laneid % 4 + word // 2 * 4)
        return row, k + n % per_word
    if use == "matrix_b":
        return per_word * (cuda.laneid % 4 + word * 4) + n % per_word, group
    return accumulator_position(n)


# ---- matrices in shared memory -------------------------------------------------------------------


@device
def _index_in_tile(fragment: Any, row: Any, column: Any, n: Any, trans: Any) -> Any:
    """Return the index in the tile of element ``n``; other lanes have the indices of the rows."""
    per_word = WORD // fragment.dtype.itemsize
    line, offset = cuda.laneid // 4, per_word * (cuda.laneid % 4) + n % per_word
    if trans:
        line, offset = offset, line
    holder = 8 * (n // per_word) + line
    first = cuda.shfl_sync(ALL_LANES, column, holder)
    return cuda.shfl_sync(ALL_LANES, row, holder), first + offset


def _mover(name: str, element: Scalar, length: int, trans: bool) -> Any:
    """Return the function that loads or stores the 8 x 8 matrices of a fragment."""
    size = element.dtype.size
    count = length * size // WORD
    if length * size not in (4, 8, 16):
        raise ValueError(f"a fragment has 4, 8 or 16 bytes, not {length * size}")
    if trans and size != 2:
        raise TypeError(f"matrices of {element} are not transposed: the elements have two bytes")
    numbers = ", ".join(f"%{n}" for n in range(count))
    constraint = "=r" if name == "ldmatrix" else "r"
    words = ", ".join(f'"{constraint}"(words[{n}])' for n in range(count))
    address = '"r"(shared_address(tile + (row * tile_stride0 + column)))'
    modifiers = f"sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16"
    if name == "ldmatrix":
        text = f"""
unsigned words[{count}];
asm volatile("ldmatrix.{modifiers} {{{numbers}}}, [%{count}];"
             : {words} : {address} : "memory");
memcpy(fragment, words, sizeof words);
"""
    else:
        text = f"""
unsigned words[{count}];
memcpy(words, fragment, sizeof words);
asm volatile("stmatrix.{modifiers} [%{count}], {{{numbers}}};"
             :: {words}, {address} : "memory");
"""

    @c_function(cuda=text, preamble=ADDRESS_HELPER)
    def move(fragment: Any, tile: Any, row: Any, column: Any) -> None:
        cuda.syncwarp()
        for n in range(length):
            index = _index_in_tile(fragment, row, column, n, trans)
            if name == "ldmatrix":
                fragment[n] = tile[index]
            else:
                tile[index] = fragment[n]
        cuda.syncwarp()

    return move


@device
def ldmatrix(fragment: Any, tile: Any, row: Any, column: Any, trans: Any = False) -> None:
    """Load 8 x 8 matrices of a tile in shared memory; all threads of the warp call it.

    Lanes 0 to 7 pass the indices of the first elements of the rows of the first matrix, lanes 8 to
    15 those of the second one, and so on. A row has 16 bytes. In a swizzled tile, ``column`` is the
    result of ``tma.swizzled_column``.
    """
    _mover("ldmatrix", fragment.dtype, fragment.shape[0], trans)(
        fragment, tile, int32(row), int32(column)
    )


@device
def stmatrix(tile: Any, row: Any, column: Any, fragment: Any, trans: Any = False) -> None:
    """Store the matrices of a fragment to a tile in shared memory (sm_90), as ``ldmatrix`` loads.

    An accumulator is converted first: a local array of float16 or bfloat16 with 2, 4 or 8 elements.
    """
    _mover("stmatrix", fragment.dtype, fragment.shape[0], trans)(
        fragment, tile, int32(row), int32(column)
    )


document_parameters(
    globals(),
    """
d : array | The result: a local array of 4 elements for each block of 8 columns, of float32, or of
  int32 for factors of int8 or uint8.
a : array | The left factor: a local array of k / 2 elements of float16, bfloat16, float32 (rounded
  to TF32), int8, or uint8 for 8-bit integers or floats.
b : array | The right factor: a local array of k / 4 elements for each block of 8 columns.
c : array | The addend; it may be ``d``.
float8 : {"e4m3", "e5m2"} | The format of factors of uint8, if ``d`` is of float32 (sm_89).
fragment : array | A local array. ``ldmatrix`` and ``stmatrix`` move one, two or four matrices: 4, 8
  or 16 bytes.
use : {"matrix_a", "matrix_b", "accumulator"} | The operand of the product.
n : int | The position in the fragment.
tile : array | A shared array of two axes, or a view of one. The rows are contiguous.
row, column : int | The index of the first element of the row whose address this thread passes.
trans : bool | Whether the matrices are transposed, for elements of two bytes.
""",
)

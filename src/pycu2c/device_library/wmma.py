"""``from pycu2c.cuda import wmma``: products of small matrices by the tensor cores of a warp.

Of whole matrices in memory, and of fragments: local arrays with what each thread has of a matrix of
16 rows and columns.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.types import bfloat16, float16, float32, int8, uint8
from pycu2c.device_library import wmma_fragments
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

_FOR_LAYOUTS = """
#ifdef __CUDACC__
template <typename LayoutA, typename LayoutB>
__device__ void mma_of_tiles(float *c, int c_step, nvcuda::wmma::layout_t order, const __half *a,
                             int a_row, int a_column, const __half *b, int b_row, int b_column,
                             int depth) {
    using namespace nvcuda::wmma;
    fragment<accumulator, 16, 16, 16, float> sum;
    __syncwarp();  // what lanes have written is read by others
    load_matrix_sync(sum, c, c_step, order);
    for (int k = 0; k < depth; k += 16) {
        fragment<matrix_a, 16, 16, 16, __half, LayoutA> left;
        fragment<matrix_b, 16, 16, 16, __half, LayoutB> right;
        load_matrix_sync(left, a + k * a_column, a_row > a_column ? a_row : a_column);
        load_matrix_sync(right, b + k * b_row, b_row > b_column ? b_row : b_column);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c, sum, c_step, order);
    __syncwarp();
}
#endif
"""
_MMA = """
using namespace nvcuda::wmma;
const layout_t order = c_stride1 == 1 ? mem_row_major : mem_col_major;
const int step = c_stride1 == 1 ? c_stride0 : c_stride1, depth = a_shape1;
if (a_stride1 == 1 && b_stride1 == 1) {
    mma_of_tiles<row_major, row_major>(c, step, order, a, a_stride0, 1, b, b_stride0, 1, depth);
} else if (a_stride1 == 1) {
    mma_of_tiles<row_major, col_major>(c, step, order, a, a_stride0, 1, b, 1, b_stride1, depth);
} else if (b_stride1 == 1) {
    mma_of_tiles<col_major, row_major>(c, step, order, a, 1, a_stride1, b, b_stride0, 1, depth);
} else {
    mma_of_tiles<col_major, col_major>(c, step, order, a, 1, a_stride1, b, 1, b_stride1, depth);
}
"""


@c_function(
    cuda=_MMA,
    preamble=_FOR_LAYOUTS,
    headers=("mma.h",),
    signature=(float32[:, :], float16[:, :], float16[:, :]),
)
def mma_of_matrices(c: Any, a: Any, b: Any) -> None:
    """``c += a @ b`` in memory."""
    cuda.syncwarp()
    for n in range(8):
        place = cuda.laneid + 32 * n
        row, column = place // 16, place % 16
        total = c[row, column]
        for k in range(a.shape[1]):
            total += float32(a[row, k]) * float32(b[k, column])
        c[row, column] = total
    cuda.syncwarp()


@device
def mma_of_parts(c: Any, a: Any, b: Any) -> None:
    """``c += a @ b`` in memory, by fragments."""
    left, right = cuda.local.array(8, a.dtype), cuda.local.array(8, b.dtype)
    total = cuda.local.array(8, c.dtype)
    load_matrix_sync(total, c, "accumulator")
    for k in range(0, a.shape[1], 16):
        load_matrix_sync(left, a[:, k : k + 16], "matrix_a")
        load_matrix_sync(right, b[k : k + 16, :], "matrix_b")
        mma_of_fragments(total, left, right, total)
    store_matrix_sync(c, total)


@device
def mma_of_fragments(d: Any, a: Any, b: Any, c: Any) -> None:
    """``d = a @ b + c`` of what the threads have."""
    if a.dtype == bfloat16:
        wmma_fragments.OF_BRAINS(d, a, b, c)
    elif a.dtype == int8:
        wmma_fragments.OF_BYTES(d, a, b, c)
    elif a.dtype == uint8:
        wmma_fragments.OF_UNSIGNED(d, a, b, c)
    else:
        wmma_fragments.OF_HALVES(d, a, b, c)


@device
def mma_sync(d: Any, a: Any, b: Any, c: Any = None) -> None:
    """``d += a @ b`` of matrices in memory, or ``d = a @ b + c`` of fragments, by the 32 threads
    of a warp together.

    Matrices: ``d`` has 16 rows and columns, ``a`` 16 rows and ``b`` 16 columns; how many columns
    ``a`` and rows ``b`` has is a multiple of 16. They lie in global or shared memory. Those of
    float16 lie row by row or column by column; on a GPU each begins at a multiple of 32 bytes, and
    its rows or columns follow each other at a multiple of 16 bytes. Others may lie in any way.

    Fragments: local arrays of 8 elements; ``c`` and ``d`` may be one.

    ``a`` and ``b`` are of float16 or bfloat16, ``c`` and ``d`` then of float32; or of int8 or
    uint8, and the others of int32.
    """
    if c is not None:
        mma_of_fragments(d, a, b, c)
    elif a.dtype == float16:
        mma_of_matrices(d, a, b)
    else:
        mma_of_parts(d, a, b)


@device
def load_matrix_sync(fragment: Any, matrix: Any, use: Any) -> None:
    """Take what the thread has of a matrix of 16 rows and columns, which may lie in any way.

    fragment: a local array of 8 elements.
    use: "matrix_a", "matrix_b" or "accumulator": what it is in a product.
    """
    if use not in ("matrix_a", "matrix_b", "accumulator"):
        fragment[0] = matrix[use]  # which is an error that names it
    cuda.syncwarp()
    for n in range(8):
        along, across = places(fragment, use, n)
        fragment[n] = matrix[across, along] if use == "matrix_b" else matrix[along, across]


@device
def places(fragment: Any, use: Any, n: Any) -> Any:
    """Where element ``n`` of a fragment is: on the axis that the product keeps, or is of, and on
    the other one."""
    group, pair = cuda.laneid // 4, cuda.laneid % 4
    low, middle, high = n % 2, n // 2 % 2 * 8, n // 4 * 8
    if fragment.dtype == int8 or fragment.dtype == uint8:
        return group + high, 4 * pair + n % 4
    if use == "matrix_b":
        return group + high, 2 * pair + low + middle
    return group + middle, 2 * pair + low + high


@device
def store_matrix_sync(matrix: Any, fragment: Any) -> None:
    """Put the elements of an accumulator where they belong in a matrix."""
    group, pair = cuda.laneid // 4, cuda.laneid % 4 * 2
    for n in range(8):
        low, middle, high = n % 2, n // 2 % 2 * 8, n // 4 * 8
        matrix[group + middle, pair + low + high] = fragment[n]
    cuda.syncwarp()


@device
def fill_fragment(fragment: Any, value: Any) -> None:
    """Give all elements of a fragment one value."""
    for n in range(8):
        fragment[n] = value

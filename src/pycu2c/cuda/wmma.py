"""``from pycu2c.cuda import wmma``: products of small matrices by the tensor cores of a warp."""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.own_c.functions import c_function
from pycu2c.types import float16, float32

_FOR_LAYOUTS = """
#ifdef __CUDACC__
template <typename LayoutA, typename LayoutB>
__device__ void mma_of_tiles(float *c, int c_step, nvcuda::wmma::layout_t order, const __half *a,
                             int a_row, int a_column, const __half *b, int b_row, int b_column,
                             int depth) {
    using namespace nvcuda::wmma;
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(sum, c, c_step, order);
    for (int k = 0; k < depth; k += 16) {
        fragment<matrix_a, 16, 16, 16, __half, LayoutA> left;
        fragment<matrix_b, 16, 16, 16, __half, LayoutB> right;
        load_matrix_sync(left, a + k * a_column, a_row > a_column ? a_row : a_column);
        load_matrix_sync(right, b + k * b_row, b_row > b_column ? b_row : b_column);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c, sum, c_step, order);
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
def mma_sync(c: Any, a: Any, b: Any) -> None:
    """``c += a @ b``, by the 32 threads of a warp together.

    ``c`` has 16 rows and columns of float32, ``a`` 16 rows and ``b`` 16 columns of float16; how
    many columns ``a`` and rows ``b`` has is a multiple of 16. They lie in global or shared memory,
    row by row or column by column. On a GPU each begins at a multiple of 32 bytes, and its rows or
    columns follow each other at a multiple of 16 bytes.
    """
    cuda.syncwarp()
    for n in range(8):
        place = cuda.laneid + 32 * n
        row, column = place // 16, place % 16
        total = c[row, column]
        for k in range(a.shape[1]):
            total += float32(a[row, k]) * float32(b[k, column])
        c[row, column] = total
    cuda.syncwarp()

"""``from pycu2c.cuda import wmma``: products of small matrices by the tensor cores of a warp.

Of whole matrices in memory, and of fragments: local arrays with what each thread has of a matrix of
16 rows and columns. Which elements those are is what the instruction ``mma.m16n8k16`` documents.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.kernel import device
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


# What one instruction does, for half of the columns: 16 x 16 by 16 x 8.
_FOR_FRAGMENTS = """
#ifdef __CUDACC__
__device__ __forceinline__ unsigned two_halves(__half low, __half high) {
    return __half_as_ushort(low) | (unsigned)__half_as_ushort(high) << 16;
}
__device__ __forceinline__ void mma_of_columns(float *d, const __half *a, const __half *b,
                                               const float *c) {
    const unsigned a0 = two_halves(a[0], a[1]), a1 = two_halves(a[2], a[3]);
    const unsigned a2 = two_halves(a[4], a[5]), a3 = two_halves(a[6], a[7]);
    const unsigned b0 = two_halves(b[0], b[1]), b1 = two_halves(b[2], b[3]);
    float d0, d1, d2, d3;
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
                   "f"(c[2]), "f"(c[3]));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(b0), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a2), "r"(a3), "r"(b1));
#endif
    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3;
}
#endif
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


@c_function(
    cuda="mma_of_columns(d, a, b, c);\nmma_of_columns(d + 4, a, b + 4, c + 4);",
    preamble=_FOR_FRAGMENTS,
    headers=("cuda_fp16.h",),
    signature=(float32[::1], float16[::1], float16[::1], float32[::1]),
)
def mma_of_fragments(d: Any, a: Any, b: Any, c: Any) -> None:
    """``d = a @ b + c`` of what the threads have."""
    group, pair = cuda.laneid // 4, cuda.laneid % 4
    for n in range(8):
        d[n] = c[n]
    for k in range(16):
        at, below = k % 8 // 2, k // 8
        for half in range(2):
            left = float32(cuda.shfl_sync(FULL, a[k % 2 + 2 * half + 4 * below], 4 * group + at))
            for n in range(4):
                own, block = n % 2, n // 2
                given = b[k % 2 + 2 * below + 4 * block]
                right = cuda.shfl_sync(FULL, given, 4 * (2 * pair + own) + at)
                d[own + 2 * half + 4 * block] += left * float32(right)


FULL = 0xFFFFFFFF


@device
def mma_sync(d: Any, a: Any, b: Any, c: Any = None) -> None:
    """``d += a @ b`` of matrices in memory, or ``d = a @ b + c`` of fragments, by the 32 threads
    of a warp together.

    Matrices: ``d`` has 16 rows and columns of float32, ``a`` 16 rows and ``b`` 16 columns of
    float16; how many columns ``a`` and rows ``b`` has is a multiple of 16. They lie in global or
    shared memory, row by row or column by column. On a GPU each begins at a multiple of 32 bytes,
    and its rows or columns follow each other at a multiple of 16 bytes.

    Fragments: local arrays of 8 elements, ``a`` and ``b`` of float16, ``c`` and ``d`` of float32;
    these may be one.
    """
    if c is None:
        mma_of_matrices(d, a, b)
    else:
        mma_of_fragments(d, a, b, c)


@device
def load_matrix_sync(fragment: Any, matrix: Any, use: Any) -> None:
    """Take what the thread has of a matrix of 16 rows and columns, which may lie in any way.

    fragment: a local array of 8 elements.
    use: "matrix_a", "matrix_b" or "accumulator": what it is in a product.
    """
    group, pair = cuda.laneid // 4, cuda.laneid % 4 * 2
    cuda.syncwarp()
    for n in range(8):
        low, middle, high = n % 2, n // 2 % 2 * 8, n // 4 * 8
        if use == "matrix_b":
            fragment[n] = matrix[pair + low + middle, group + high]
        elif use in ("matrix_a", "accumulator"):
            fragment[n] = matrix[group + middle, pair + low + high]
        else:
            fragment[n] = matrix[use]  # which is an error that names it


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

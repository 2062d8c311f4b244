"""Implement ``pycu2c.cuda.wmma``: 16 x 16 matrix products by the tensor cores of a warp.

Operands are matrices in memory, or fragments: local arrays with the elements of each thread.
"""

from __future__ import annotations

import pathlib
from typing import Any

from pycu2c import cuda
from pycu2c.base.types import float16, float32
from pycu2c.device_library import mma
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

# the helper functions, and the body
_PREAMBLE, _PRODUCT = (
    (pathlib.Path(__file__).parent / "wmma.cuh").read_text("utf-8").split("// ==== c += a @ b\n")
)


@c_function(
    cuda=_PRODUCT,
    preamble=_PREAMBLE,
    headers=("mma.h",),
    signature=(float32[:, :], float16[:, :], float16[:, :]),
)
def _mma_in_memory(c: Any, a: Any, b: Any) -> None:
    """Compute ``c += a @ b`` in memory."""
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
def _mma_through_fragments(c: Any, a: Any, b: Any) -> None:
    """Compute ``c += a @ b`` in memory with fragments."""
    left, right = cuda.local.array(8, a.dtype), cuda.local.array(8, b.dtype)
    total = cuda.local.array(8, c.dtype)
    load_matrix_sync(total, c, "accumulator")
    for k in range(0, a.shape[1], 16):
        load_matrix_sync(left, a[:, k : k + 16], "matrix_a")
        load_matrix_sync(right, b[k : k + 16, :], "matrix_b")
        mma.mma_sync(total, left, right, total)
    store_matrix_sync(c, total)


@device
def mma_sync(d: Any, a: Any, b: Any, c: Any = None) -> None:
    """Compute ``d += a @ b`` of matrices in memory, or ``d = a @ b + c`` of fragments, in one warp.

    Matrices are in global or shared memory. float16 matrices are row-major or column-major; on a
    GPU, each is aligned to 32 bytes and its leading stride is a multiple of 16 bytes. Other types
    may have any strides. Fragments are local arrays of 8 elements.

    Parameters
    ----------
    d : array
        The result: float32 or int32; a matrix of shape (16, 16), or a fragment.
    a, b : array
        The factors: float16 or bfloat16 for float32, int8 or uint8 for int32. Matrices have the
        shapes (16, k) and (k, 16); k is a multiple of 16.
    c : array, optional
        For fragments, the addend; it may be ``d``.
    """
    if c is not None:
        mma.mma_sync(d, a, b, c)
    elif a.dtype == float16:
        _mma_in_memory(d, a, b)
    else:
        _mma_through_fragments(d, a, b)


@device
def load_matrix_sync(fragment: Any, matrix: Any, use: Any) -> None:
    """Load this thread's elements of a 16 x 16 matrix with any strides.

    Parameters
    ----------
    fragment : array
        A local array of 8 elements.
    matrix : array
        The matrix, of shape (16, 16).
    use : {"matrix_a", "matrix_b", "accumulator"}
        The operand of the product.
    """
    if use not in ("matrix_a", "matrix_b", "accumulator"):
        fragment[0] = matrix[use]  # raises a type error that names the use
    cuda.syncwarp()
    for n in range(8):
        along, across = _element_position(fragment, use, n)
        fragment[n] = matrix[across, along] if use == "matrix_b" else matrix[along, across]


@device
def _element_position(fragment: Any, use: Any, n: Any) -> Any:
    """Return the position of element ``n`` of a fragment along the outer and inner dimensions."""
    if use == "matrix_b":  # two blocks of 8 columns
        k, column = mma.position(fragment, use, n % 4)
        return column + n // 4 * 8, k
    return mma.position(fragment, use, n)


@device
def store_matrix_sync(matrix: Any, fragment: Any) -> None:
    """Store the elements of an accumulator to a matrix.

    Parameters
    ----------
    matrix : array
        The matrix, of shape (16, 16).
    fragment : array
        A local array of 8 elements.
    """
    for n in range(8):
        matrix[mma.position(fragment, "accumulator", n)] = fragment[n]
    cuda.syncwarp()


@device
def fill_fragment(fragment: Any, value: Any) -> None:
    """Set all elements of a fragment to a value.

    Parameters
    ----------
    fragment : array
        A local array of 8 elements.
    value : number
        The value.
    """
    for n in range(8):
        fragment[n] = value

"""The layout of tiles in shared memory that the tensor memory accelerator and wgmma share.

The rows of a tile have 32, 64 or 128 bytes, in chunks of 16 bytes. Hardware avoids bank conflicts
by a permutation of the chunks of each row (a swizzle): chunk ``c`` is stored at ``c ^ p``, where
``p`` counts the 128-byte lines of the tile, modulo the chunks of a row. A tile begins at a multiple
of eight rows.
"""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device

CHUNK = 16  # bytes
LINE = 128  # bytes; all banks of shared memory


@device
def swizzled_column(tile: Any, row: Any, column: Any) -> Any:
    """Return the column of a swizzled tile that has element ``[row, column]`` of the matrix.

    Parameters
    ----------
    tile : array
        A shared array, whose last axis has 32, 64 or 128 bytes.
    row, column : int
        The index in the matrix.

    Returns
    -------
    int
        The column in ``tile[row]``.
    """
    size = tile.dtype.itemsize
    row_bytes = tile.shape[tile.ndim - 1] * size
    line = row * row_bytes // LINE % (row_bytes // CHUNK)
    return column ^ (line * CHUNK // size)

"""``from pycu2c.cuda import wmma``: products of small matrices by the tensor cores of a warp."""

from pycu2c.device_library.wmma import (
    fill_fragment,
    load_matrix_sync,
    mma_sync,
    store_matrix_sync,
)

__all__ = ["fill_fragment", "load_matrix_sync", "mma_sync", "store_matrix_sync"]

"""Export 16 x 16 matrix products by tensor cores: ``from pycu2c.cuda import wmma``."""

from pycu2c.device_library.wmma import fill_fragment, load_matrix_sync, mma_sync, store_matrix_sync

__all__ = ["fill_fragment", "load_matrix_sync", "mma_sync", "store_matrix_sync"]

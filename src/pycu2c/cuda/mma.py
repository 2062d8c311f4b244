"""Export products of fragments by a warp: ``from pycu2c.cuda import mma``."""

from pycu2c.device_library.mma import ldmatrix, mma_sync, position, stmatrix

__all__ = ["ldmatrix", "mma_sync", "position", "stmatrix"]

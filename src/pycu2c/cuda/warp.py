"""Export reductions and scans of the values of a warp: ``from pycu2c.cuda import warp``."""

from pycu2c.device_library.warp import all_reduce, exclusive_scan, inclusive_scan, reduce

__all__ = ["all_reduce", "exclusive_scan", "inclusive_scan", "reduce"]

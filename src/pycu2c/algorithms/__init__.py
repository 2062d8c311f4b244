"""Algorithms for whole arrays, on a GPU or on the CPU: reductions, scans, sorts, selections.

Each algorithm consists of kernels in Python, for every back end. ``docs/guide/algorithms.md`` is an
introduction.
"""

from __future__ import annotations

from pycu2c.algorithms.histograms import histogram
from pycu2c.algorithms.radix_sort import sort, sort_by_key
from pycu2c.algorithms.reductions import reduce
from pycu2c.algorithms.scans import exclusive_scan, inclusive_scan
from pycu2c.algorithms.segments import segmented_reduce, spmv
from pycu2c.algorithms.selections import partition, select
from pycu2c.algorithms.transposition import transpose

__all__ = [
    "exclusive_scan",
    "histogram",
    "inclusive_scan",
    "partition",
    "reduce",
    "segmented_reduce",
    "select",
    "sort",
    "sort_by_key",
    "spmv",
    "transpose",
]

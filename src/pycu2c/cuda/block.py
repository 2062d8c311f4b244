"""Export operations of all threads of a block: ``from pycu2c.cuda import block``."""

from pycu2c.device_library.block.exchange import (
    blocked_to_striped,
    load,
    load_striped,
    load_transposed,
    scatter_to_blocked,
    scatter_to_striped,
    shuffle,
    store,
    store_striped,
    store_transposed,
    striped_to_blocked,
)
from pycu2c.device_library.block.histogram import histogram
from pycu2c.device_library.block.merge_sort import merge_sort
from pycu2c.device_library.block.neighbors import adjacent_difference, flag_heads
from pycu2c.device_library.block.radix_sort import radix_sort, top_k
from pycu2c.device_library.block.reduce import all_reduce, broadcast, reduce
from pycu2c.device_library.block.run_length import run_length_encode
from pycu2c.device_library.block.scan import exclusive_scan, inclusive_scan

__all__ = [
    "adjacent_difference",
    "all_reduce",
    "blocked_to_striped",
    "broadcast",
    "exclusive_scan",
    "flag_heads",
    "histogram",
    "inclusive_scan",
    "load",
    "load_striped",
    "load_transposed",
    "merge_sort",
    "radix_sort",
    "reduce",
    "run_length_encode",
    "scatter_to_blocked",
    "scatter_to_striped",
    "shuffle",
    "store",
    "store_striped",
    "store_transposed",
    "striped_to_blocked",
    "top_k",
]

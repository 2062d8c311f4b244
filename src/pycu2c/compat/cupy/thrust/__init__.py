"""The sequential algorithms of ``cupyx.jit.thrust``, as device functions.

``rawkernel`` converts iterators: in a call of these functions, ``a.begin()`` and ``a`` are the
tuple ``(a, 0)``, and ``a.end()`` is ``(a, len(a))``. Elsewhere, an iterator is its index, as are
the results: ``it - a.begin()``. Each thread that calls a function processes the whole range. The
policies have no effect.
"""

from pycu2c.compat.cupy.thrust.copies import copy as copy
from pycu2c.compat.cupy.thrust.copies import fill as fill
from pycu2c.compat.cupy.thrust.copies import gather as gather
from pycu2c.compat.cupy.thrust.copies import remove as remove
from pycu2c.compat.cupy.thrust.copies import remove_copy as remove_copy
from pycu2c.compat.cupy.thrust.copies import replace as replace
from pycu2c.compat.cupy.thrust.copies import replace_copy as replace_copy
from pycu2c.compat.cupy.thrust.copies import reverse as reverse
from pycu2c.compat.cupy.thrust.copies import reverse_copy as reverse_copy
from pycu2c.compat.cupy.thrust.copies import scatter as scatter
from pycu2c.compat.cupy.thrust.copies import sequence as sequence
from pycu2c.compat.cupy.thrust.copies import swap_ranges as swap_ranges
from pycu2c.compat.cupy.thrust.copies import unique as unique
from pycu2c.compat.cupy.thrust.copies import unique_by_key as unique_by_key
from pycu2c.compat.cupy.thrust.searches import binary_search as binary_search
from pycu2c.compat.cupy.thrust.searches import count as count
from pycu2c.compat.cupy.thrust.searches import equal as equal
from pycu2c.compat.cupy.thrust.searches import equal_range as equal_range
from pycu2c.compat.cupy.thrust.searches import find as find
from pycu2c.compat.cupy.thrust.searches import is_sorted as is_sorted
from pycu2c.compat.cupy.thrust.searches import is_sorted_until as is_sorted_until
from pycu2c.compat.cupy.thrust.searches import lower_bound as lower_bound
from pycu2c.compat.cupy.thrust.searches import mismatch as mismatch
from pycu2c.compat.cupy.thrust.searches import upper_bound as upper_bound
from pycu2c.compat.cupy.thrust.sets import set_difference as set_difference
from pycu2c.compat.cupy.thrust.sets import set_difference_by_key as set_difference_by_key
from pycu2c.compat.cupy.thrust.sets import set_intersection as set_intersection
from pycu2c.compat.cupy.thrust.sets import set_intersection_by_key as set_intersection_by_key
from pycu2c.compat.cupy.thrust.sets import set_symmetric_difference as set_symmetric_difference
from pycu2c.compat.cupy.thrust.sets import (
    set_symmetric_difference_by_key as set_symmetric_difference_by_key,
)
from pycu2c.compat.cupy.thrust.sets import set_union as set_union
from pycu2c.compat.cupy.thrust.sets import set_union_by_key as set_union_by_key
from pycu2c.compat.cupy.thrust.sorting import sort as sort
from pycu2c.compat.cupy.thrust.sorting import sort_by_key as sort_by_key
from pycu2c.compat.cupy.thrust.sorting import stable_sort as stable_sort
from pycu2c.compat.cupy.thrust.sorting import stable_sort_by_key as stable_sort_by_key
from pycu2c.compat.cupy.thrust.sums import adjacent_difference as adjacent_difference
from pycu2c.compat.cupy.thrust.sums import exclusive_scan as exclusive_scan
from pycu2c.compat.cupy.thrust.sums import exclusive_scan_by_key as exclusive_scan_by_key
from pycu2c.compat.cupy.thrust.sums import inclusive_scan as inclusive_scan
from pycu2c.compat.cupy.thrust.sums import inclusive_scan_by_key as inclusive_scan_by_key
from pycu2c.compat.cupy.thrust.sums import inner_product as inner_product
from pycu2c.compat.cupy.thrust.sums import reduce as reduce
from pycu2c.compat.cupy.thrust.sums import reduce_by_key as reduce_by_key

host, device, seq = "host", "device", "seq"

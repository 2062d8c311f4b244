"""The device functions that record findings, in the kernel language.

``findings`` is an array of int64 with one row for each check site: how many findings, then the
thread and the block of the first one, as linear indices, and the values that the site records. Its
last row is the state of the launch.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.checks.device_functions.thread_indices import block_index, thread_index

COUNT, THREAD, BLOCK, VALUES = range(4)  # the columns; the values take all from VALUES on
# the columns of the last row: whether all waiting ends, for how many nanoseconds a thread may wait,
# and whether there are findings
IS_ENDING, LIMIT, FOUND = range(3)
MAX_OF_THREAD = 1000  # findings, after which a thread leaves ``while`` loops
MAX_VALUES = 16  # an index and a length for each of eight axes
NO_ELEMENT = 1 << 49  # replaces an index of a view that is out of bounds: no array is so long


def record(findings: Any, own_count: Any, site_index: Any, *values: Any) -> Any:
    """Record a finding.

    own_count: the number of findings of the thread, in a local array. An index near ``NO_ELEMENT``
    results from another finding.
    """
    own_count[0] += 1
    if len(values) > 1 and abs(values[0]) >= NO_ELEMENT // 2:
        return False
    return store_finding(findings, site_index, thread_index(), block_index(), *values)


def store_finding(findings: Any, site_index: Any, thread: Any, block: Any, *values: Any) -> Any:
    """Count a finding, and store the first one of a site."""
    if cuda.atomic.add(findings, (site_index, COUNT), 1) == 0:
        findings[site_index, THREAD] = thread
        findings[site_index, BLOCK] = block
        for i, value in enumerate(values):
            findings[site_index, VALUES + i] = value
        findings[findings.shape[0] - 1, FOUND] = 1
    return False

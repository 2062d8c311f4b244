"""The device functions that record findings, in the kernel language.

``findings`` is an array of int64 with one row for each check site: how many findings, then the
thread and the block of the first one, as linear indices, and the values that the site records. Its
last row is the state of the launch.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda

COUNT, THREAD, BLOCK, VALUES = range(4)  # the columns; the values take all from VALUES on
# ---- the columns of the state of the launch ----
# whether waiting ends; for how many nanoseconds a thread may wait; whether the launch has changed
# the array
IS_ENDING, LIMIT, FOUND = range(3)
MAX_OF_THREAD = 1000  # findings, after which a thread leaves loops without a known end
MAX_VALUES = 16  # an index and a length for each of eight axes
NO_ELEMENT = 1 << 49  # what an index of a view becomes if it is out of bounds: no array is so long


def record(findings: Any, own_count: Any, site: Any, *values: Any) -> Any:
    """Record a finding; return False.

    own_count: the number of findings of the thread, in a local array.
    An index of ``NO_ELEMENT`` or so comes from another finding, which is recorded there.
    """
    own_count[0] += 1
    if len(values) > 1 and abs(values[0]) >= NO_ELEMENT // 2:
        return False
    if cuda.atomic.add(findings, (site, COUNT), 1) == 0:
        thread = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
        block = cuda.blockIdx.y + cuda.blockIdx.z * cuda.gridDim.y
        findings[site, THREAD] = cuda.threadIdx.x + thread * cuda.blockDim.x
        findings[site, BLOCK] = cuda.blockIdx.x + block * cuda.gridDim.x
        for i, value in enumerate(values):
            findings[site, VALUES + i] = value
        findings[findings.shape[0] - 1, FOUND] = 1
    return False

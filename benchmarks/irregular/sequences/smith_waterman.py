"""One anti-diagonal of the scores of a local alignment (Smith-Waterman), one thread for each row.

Diagonals are stored by row: ``last`` is the diagonal before ``scores``, and ``before`` the one
before ``last``.
"""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel

MATCH, MISMATCH, GAP = 3, -2, 2


@kernel
def smith_waterman(first, second, before, last, scores, diagonal):
    i = cuda.grid(1) + 1
    j = diagonal - i
    if i <= first.size and 1 <= j <= second.size:
        replaced = before[i - 1] + (MATCH if first[i - 1] == second[j - 1] else MISMATCH)
        gap = max(last[i - 1], last[i]) - GAP
        scores[i] = max(0, replaced, gap)


def problem(scale: int) -> Problem:
    rng, rows = np.random.default_rng(1), 2**22 * scale
    first, second = (rng.integers(0, 4, rows, np.uint8) for _ in range(2))
    before, last = (rng.integers(0, 20, rows + 1, np.int32) for _ in range(2))
    arguments = first, second, before, last, np.zeros(rows + 1, np.int32), np.int32(rows)
    return Problem(arguments, (blocks(rows),), (256,), results=(4,), tolerance=0)

"""The number of steps of each Collatz sequence until it reaches 1, one thread for each start."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def collatz(steps):
    i = cuda.grid(1)
    if i < steps.size:
        n = i + 1
        count = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            count += 1
        steps[i] = count


def problem(scale: int) -> Problem:
    starts = 2**16 * scale
    return Problem(
        (np.zeros(starts, np.int32),), (blocks(starts),), (256,), results=(0,), tolerance=0
    )

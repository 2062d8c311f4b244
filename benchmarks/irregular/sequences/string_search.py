"""Positions at which a text contains a pattern, one thread for each position."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def string_search(text, pattern, found):
    i = cuda.grid(1)
    if i + pattern.size <= text.size:
        found[i] = 1
        for k in range(pattern.size):
            if text[i + k] != pattern[k]:
                found[i] = 0
                break


def problem(scale: int) -> Problem:
    n = 2**20 * scale
    text = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", np.uint8), n)
    pattern = text[n // 2 : n // 2 + 12].copy()
    arguments = text, pattern, np.zeros(n, np.uint8)
    return Problem(arguments, (blocks(n),), (256,), results=(2,), tolerance=0)

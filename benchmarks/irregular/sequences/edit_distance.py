"""The Levenshtein distance of many pairs of words, one thread for each pair."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, int32, kernel

LONGEST = 32


@kernel
def edit_distance(first, first_lengths, second, second_lengths, out):
    pair = cuda.grid(1)
    if pair < out.size:
        row = cuda.local.array(LONGEST + 1, int32)
        columns = second_lengths[pair]
        for j in range(columns + 1):
            row[j] = j
        for i in range(first_lengths[pair]):
            diagonal = row[0]
            row[0] = i + 1
            for j in range(columns):
                replaced = diagonal + (first[pair, i] != second[pair, j])
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
        out[pair] = row[columns]


def problem(scale: int) -> Problem:
    rng, pairs = np.random.default_rng(1), 2**13 * scale
    words = [rng.integers(97, 105, (pairs, LONGEST), np.uint8) for _ in range(2)]
    lengths = [rng.integers(4, LONGEST + 1, pairs, np.int32) for _ in range(2)]
    arguments = words[0], lengths[0], words[1], lengths[1], np.zeros(pairs, np.int32)
    return Problem(arguments, (blocks(pairs, 128),), (128,), results=(4,), tolerance=0)

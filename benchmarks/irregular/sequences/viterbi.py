"""One step of the Viterbi algorithm with log-probabilities, one thread for each state."""

from __future__ import annotations

import math

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def viterbi(scores, transitions, emissions, symbol, out, origins):
    state = cuda.grid(1)
    if state < out.size:
        best = scores[0] + transitions[0, state]
        origin = 0
        for k in range(1, scores.size):
            score = scores[k] + transitions[k, state]
            if score > best:
                best = score
                origin = k
        out[state] = best + emissions[symbol, state]
        origins[state] = origin


def problem(scale: int) -> Problem:
    rng, states, symbols = np.random.default_rng(1), math.isqrt(2**23 * scale), 16
    scores = -rng.random(states, np.float32)
    transitions = -rng.random((states, states), np.float32)
    emissions = -rng.random((symbols, states), np.float32)
    out, origins = np.zeros(states, np.float32), np.zeros(states, np.int32)
    arguments = scores, transitions, emissions, 3, out, origins
    return Problem(arguments, (blocks(states, 64),), (64,), results=(4, 5), tolerance=0)

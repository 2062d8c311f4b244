"""Time points of a Monte Carlo estimate on some GPUs of one process, without communication.

usage: python benchmarks/monte_carlo_gpus.py GPUS POINTS

POINTS is the number for each GPU. Without a GPU, the parts run one after the other. The script
prints the milliseconds of a step, which waits for all GPUs, and checks the sum.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from pi import BLOCK, ROUNDS, SEED, without_states

from pycu2c import cuda, kernel

STEPS = 20
count_inside = kernel(block=BLOCK)(without_states)


class Part:
    """The points of a GPU, and the stream of its launches."""

    def __init__(self, number: int, gpu: Any) -> None:
        self.gpu, self.seed = gpu, SEED + number
        with gpu:
            self.stream = cuda.stream(blocking=False)
            self.total = cuda.to_device(np.zeros(1, np.int64))

    def launch(self, grid: int) -> None:
        with self.gpu:
            count_inside[grid, BLOCK, self.stream](self.seed, self.total)


def main() -> None:
    count, points = int(sys.argv[1]), int(sys.argv[2])
    gpus: list[Any] = list(cuda.gpus)[:count] or [contextlib.nullcontext()] * count
    parts = [Part(number, gpu) for number, gpu in enumerate(gpus)]
    cuda.synchronize()
    grid = -(-points // (2 * ROUNDS * BLOCK))
    for step in range(STEPS + 1):
        if step == 1:
            start = time.perf_counter()
        for part in parts:
            part.launch(grid)
        for part in parts:
            part.stream.synchronize()
    duration = (time.perf_counter() - start) / STEPS
    inside = sum(int(part.total.copy_to_host()[0]) for part in parts)
    estimate = 4 * inside / (len(parts) * grid * BLOCK * 2 * ROUNDS * (STEPS + 1))
    assert math.isclose(estimate, math.pi, rel_tol=1e-2), estimate
    print(f"{len(parts)} x {points} points: {duration * 1e3:.4f} ms per step")


if __name__ == "__main__":
    main()

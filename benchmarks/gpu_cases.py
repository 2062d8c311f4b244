"""The cases of benchmarks/gpu.py: problem, size and launch configuration of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kernels
import problems
from problems import Problem

HAND_WRITTEN = Path(__file__).parent / "hand_written"


@dataclass(frozen=True)
class Case:
    """One line of the table. ``packed`` is the ``struct`` format of the hand-written kernel's
    parameters."""

    name: str
    title: str
    kernel: Any  # in Python
    problem: Callable[[int], Problem]
    size: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    packed: str

    @property
    def hand_written(self) -> str:
        """Return the CUDA C of the hand-written kernel, whose function has the name of the case."""
        return (HAND_WRITTEN / f"{self.name}.cu").read_text()


LINE, IMAGE, TILE = (256, 1, 1), (32, 8, 1), (16, 16, 1)

CASES = (
    Case("saxpy", "saxpy 2^26", kernels.saxpy, problems.saxpy, 2**26, (2**18, 1, 1), LINE, "PPPfi"),
    Case(
        "stencil",
        "stencil 8192^2",
        kernels.stencil,
        problems.heat,
        8192,
        (256, 1024, 1),
        IMAGE,
        "PPii",
    ),
    Case(
        "matmul", "matmul 2048", kernels.matmul, problems.matmul, 2048, (128, 128, 1), TILE, "PPPi"
    ),
    Case(
        "nbody", "nbody 32768", kernels.nbody, problems.nbody, 32768, (128, 1, 1), LINE, "PPPPPfi"
    ),
    Case(
        "block_sum",
        "block_sum 2^26",
        kernels.block_sum,
        problems.block_sum,
        2**26,
        (2**18, 1, 1),
        LINE,
        "PPi",
    ),
    Case(
        "mandelbrot",
        "mandelbrot 4096^2 x 200",
        kernels.mandelbrot,
        problems.mandelbrot,
        4096,
        (128, 512, 1),
        IMAGE,
        "Pfffiii",
    ),
)

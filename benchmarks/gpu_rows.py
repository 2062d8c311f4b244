"""The rows of benchmarks/gpu.py: what each computes, how large, and how its blocks lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kernels
import problems
from problems import Problem

HAND = Path(__file__).parent / "hand"


@dataclass(frozen=True)
class Row:
    """One line of the table. ``packed``: the hand-written kernel's parameters in the words of the
    struct module."""

    name: str
    title: str
    ours: Any  # the kernel in Python
    problem: Callable[[int], Problem]
    size: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    packed: str

    @property
    def hand(self) -> str:
        """The CUDA C of the hand-written kernel, whose entry is the row's name."""
        return (HAND / f"{self.name}.cu").read_text()


LINE, IMAGE, TILE = (256, 1, 1), (32, 8, 1), (16, 16, 1)

ROWS = (
    Row("saxpy", "saxpy 2^26", kernels.saxpy, problems.saxpy, 2**26, (2**18, 1, 1), LINE, "PPPfi"),
    Row(
        "stencil",
        "stencil 8192^2",
        kernels.stencil,
        problems.heat,
        8192,
        (256, 1024, 1),
        IMAGE,
        "PPii",
    ),
    Row(
        "matmul", "matmul 2048", kernels.matmul, problems.matmul, 2048, (128, 128, 1), TILE, "PPPi"
    ),
    Row("nbody", "nbody 32768", kernels.nbody, problems.nbody, 32768, (128, 1, 1), LINE, "PPPPPfi"),
    Row(
        "block_sum",
        "block_sum 2^26",
        kernels.block_sum,
        problems.block_sum,
        2**26,
        (2**18, 1, 1),
        LINE,
        "PPi",
    ),
    Row(
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

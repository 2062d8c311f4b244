"""What benchmarks/gpu.py compares: sizes, inputs and launches of each pair of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kernels

HAND = Path(__file__).parent / "hand"


@dataclass(frozen=True)
class Inputs:
    """Arrays (the first one is the result) and numbers that both kernels are given.

    ``sizes`` are what the hand-written kernel is told and ours reads from the arrays;
    ``packed`` are the hand-written kernel's parameters in the words of the struct module.
    """

    arrays: tuple[np.ndarray, ...]
    numbers: tuple[Any, ...]
    sizes: tuple[int, ...]
    packed: str


@dataclass(frozen=True)
class Row:
    """One line of the table. ``agreement``: the share of elements that must be close."""

    name: str
    size: str
    ours: Any  # the kernel in Python
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    inputs: Callable[[], Inputs]
    relative: float = 1e-5
    agreement: float = 1.0

    @property
    def hand(self) -> str:
        """The CUDA C of the hand-written kernel, whose entry is the row's name."""
        return (HAND / f"{self.name}.cu").read_text()


def uniform(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def saxpy_inputs() -> Inputs:
    n = 2**26
    arrays = (np.zeros(n, np.float32), uniform(n), uniform(n, seed=2))
    return Inputs(arrays, (np.float32(2.5),), (n,), "PPPfi")


def stencil_inputs() -> Inputs:
    n = 8192
    return Inputs((np.zeros((n, n), np.float32), uniform(n, n)), (), (n, n), "PPii")


def matmul_inputs() -> Inputs:
    n = 2048
    arrays = (np.zeros((n, n), np.float32), uniform(n, n), uniform(n, n, seed=2))
    return Inputs(arrays, (), (n,), "PPPi")


def nbody_inputs() -> Inputs:
    n = 32768
    places = tuple(uniform(n, seed=s) for s in (1, 2, 3, 4))
    return Inputs((np.zeros((n, 3), np.float32), *places), (np.float32(1e-3),), (n,), "PPPPPfi")


def block_sum_inputs() -> Inputs:
    n = 2**26
    return Inputs((np.zeros(n // 256, np.float32), uniform(n)), (), (n,), "PPi")


def mandelbrot_inputs() -> Inputs:
    n = 4096
    corner = (np.float32(-2.0), np.float32(-1.25), np.float32(2.5 / n))
    return Inputs((np.zeros((n, n), np.int32),), (*corner, 200), (n, n), "Pfffiii")


ROWS = (
    Row("saxpy", "2^26", kernels.saxpy, (2**18, 1, 1), (256, 1, 1), saxpy_inputs),
    Row("stencil", "8192^2", kernels.stencil, (256, 1024, 1), (32, 8, 1), stencil_inputs),
    Row("matmul", "2048", kernels.matmul, (128, 128, 1), (16, 16, 1), matmul_inputs),
    Row("nbody", "32768", kernels.nbody, (128, 1, 1), (256, 1, 1), nbody_inputs, relative=1e-3),
    Row("block_sum", "2^26", kernels.block_sum, (2**18, 1, 1), (256, 1, 1), block_sum_inputs),
    Row(
        "mandelbrot",
        "4096^2 x 200",
        kernels.mandelbrot,
        (128, 512, 1),
        (32, 8, 1),
        mandelbrot_inputs,
        agreement=0.99,  # points at the edge turn on the last bit
    ),
)

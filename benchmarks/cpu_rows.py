"""The rows of benchmarks/cpu.py: what each computes, how large, and how its blocks lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import problems
from problems import Problem

Extent = tuple[int, ...]
Launch = tuple[Extent, Extent]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    ``kernel`` names the function in kernels.py and in the files of the other contenders.
    ``full`` is the size that the table is about, ``small`` one for a test.
    """

    name: str
    title: str
    kernel: str
    problem: Callable[[int], Problem]
    full: int
    small: int
    launch: Callable[[int], Launch]
    fastmath: bool = False
    unit: str = "ms"


def line(n: int) -> Launch:
    """A thread for each element."""
    return ((n + 255) // 256,), (256,)


def image(n: int) -> Launch:
    """A thread for each pixel of a square."""
    return ((n + 31) // 32, (n + 7) // 8), (32, 8)


def tiles(n: int) -> Launch:
    return (n // 16, n // 16), (16, 16)


def strides(n: int) -> Launch:
    """Blocks that walk over the elements."""
    return (min(256, n // 256),), (256,)


def alone(n: int) -> Launch:
    return (1,), (n,)


def nbody(name: str, title: str, fastmath: bool) -> Row:
    return Row(name, title, "nbody", problems.nbody, 16384, 512, line, fastmath)


ROWS = (
    Row("saxpy", "saxpy 2^24", "saxpy", problems.saxpy, 2**24, 1000, line),
    Row("heat", "heat 4096²", "stencil", problems.heat, 4096, 100, image),
    Row("mandelbrot", "mandelbrot 2048² × 200", "mandelbrot", problems.mandelbrot, 2048, 50, image),
    nbody("nbody", "n-body 16384", False),
    nbody("nbody-fast", "n-body 16384, fastmath", True),
    Row("matmul", "tiled matmul 1024", "matmul", problems.matmul, 1024, 64, tiles),
    Row("tree", "tree reduction 2^24", "block_sum", problems.block_sum, 2**24, 1024, line),
    Row("shuffle", "shuffle reduction 2^24", "shuffle_sum", problems.block_sum, 2**24, 1024, line),
    Row("histogram", "histogram, global 2^24", "histogram", problems.histogram, 2**24, 5000, line),
    Row(
        "shared-histogram",
        "histogram, shared 2^24",
        "shared_histogram",
        problems.histogram,
        2**24,
        5000,
        strides,
    ),
    Row(
        "black-scholes",
        "Black-Scholes 2^22",
        "black_scholes",
        problems.black_scholes,
        2**22,
        1000,
        line,
    ),
    Row("scan", "scan per block 2^24", "block_scan", problems.block_scan, 2**24, 1024, line),
    Row("tiny", "tiny launch", "tiny", problems.tiny, 32, 32, alone, unit="µs"),
)

"""The cases of benchmarks/cpu.py: problem, sizes and launch configuration of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import problems
from problems import Problem

Extent = tuple[int, ...]
Launch = tuple[Extent, Extent]


@dataclass(frozen=True)
class Case:
    """One line of the table.

    ``kernel`` names the function in kernels.py and in the modules of the other implementations.
    ``full`` is the benchmarked size, ``small`` a size for tests.
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
    """Return one thread per element."""
    return ((n + 255) // 256,), (256,)


def image(n: int) -> Launch:
    """Return one thread per pixel of a square image."""
    return ((n + 31) // 32, (n + 7) // 8), (32, 8)


def tiles(n: int) -> Launch:
    return (n // 16, n // 16), (16, 16)


def grid_stride(n: int) -> Launch:
    """Return few blocks, for a kernel with a grid-stride loop."""
    return (min(256, n // 256),), (256,)


def one_block(n: int) -> Launch:
    return (1,), (n,)


def nbody(name: str, title: str, fastmath: bool) -> Case:
    return Case(name, title, "nbody", problems.nbody, 16384, 512, line, fastmath)


CASES = (
    Case("saxpy", "saxpy 2^24", "saxpy", problems.saxpy, 2**24, 1000, line),
    Case("heat", "heat 4096²", "stencil", problems.heat, 4096, 100, image),
    Case(
        "mandelbrot", "mandelbrot 2048² × 200", "mandelbrot", problems.mandelbrot, 2048, 50, image
    ),
    nbody("nbody", "n-body 16384", False),
    nbody("nbody-fast", "n-body 16384, fastmath", True),
    Case("matmul", "tiled matmul 1024", "matmul", problems.matmul, 1024, 64, tiles),
    Case("tree", "tree reduction 2^24", "block_sum", problems.block_sum, 2**24, 1024, line),
    Case("shuffle", "shuffle reduction 2^24", "shuffle_sum", problems.block_sum, 2**24, 1024, line),
    Case("histogram", "histogram, global 2^24", "histogram", problems.histogram, 2**24, 5000, line),
    Case(
        "shared-histogram",
        "histogram, shared 2^24",
        "shared_histogram",
        problems.histogram,
        2**24,
        5000,
        grid_stride,
    ),
    Case(
        "black-scholes",
        "Black-Scholes 2^22",
        "black_scholes",
        problems.black_scholes,
        2**22,
        1000,
        line,
    ),
    Case("scan", "scan per block 2^24", "block_scan", problems.block_scan, 2**24, 1024, line),
    Case("tiny", "tiny launch", "tiny", problems.tiny, 32, 32, one_block, unit="µs"),
)

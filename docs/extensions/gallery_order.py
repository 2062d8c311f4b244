"""The order of the gallery, from simple to complex; an example that is missing here is an error."""

from __future__ import annotations

from pathlib import Path

_ORDER = (
    *("mandelbrot", "life", "heat", "edges"),  # a thread for each element
    *("data_race", "monte_carlo", "histogram"),  # checks, random numbers, atomics
    *("matmul", "bilateral", "nbody"),  # shared memory
    *("scan", "sort", "spmv"),  # warps, and several launches
    *("reaction_diffusion", "kmeans", "fft", "alignment"),
    *("ray_marcher", "lattice_boltzmann", "neural_net"),
)


def position(example: str) -> int:
    return _ORDER.index(Path(example).stem)

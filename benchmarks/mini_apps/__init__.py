"""Mini-apps of Oak Ridge National Laboratory, whose CUDA C++ others wrote, in Python.

https://github.com/tdehoff/Mojo-workloads, commit 2c438c0a9bc1e9bc61954da445834be3f6b84bf3 (MIT
licence), has them in CUDA C++, HIP and Mojo; see Godoy et al., "Mojo: MLIR-based
performance-portable HPC science kernels on GPUs for the Python ecosystem", SC Workshops '25. The
Python here follows the algorithms of their CUDA kernels. Their files are not part of this project.

A mini-app is a module with a file beside it: ``stencil.py`` has the kernels, and ``stencil.cu``
includes the original CUDA C++ and exports a function in C for each kernel. The module has ``FLAGS``
for nvcc, as in the mini-app's makefile, and ``cases(sources, small)``. ``sources`` is a checkout of
the repository or None, ``small`` is for tests.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
APPS = ("stencil", "babel_stream", "mini_bude", "hartree_fock")

Number = int | float | np.number[Any]


@dataclass(frozen=True)
class Case:
    """A kernel with arguments.

    ``arrays`` are the first arguments of the kernel and of the exported ``function``. ``numbers``
    follow in the kernel, ``original_numbers`` in the function. ``results`` are the positions of the
    arrays that both write, ``expected()`` are their values. ``tolerance`` is relative to the
    largest magnitude.
    """

    title: str
    kernel: Any
    arrays: tuple[np.ndarray, ...]
    numbers: tuple[Number, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    function: str
    original_numbers: tuple[Number, ...]
    results: tuple[int, ...]
    expected: Callable[[], Sequence[np.ndarray]]
    tolerance: float

    def check(self, expected: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """Raise `AssertionError` if results differ."""
        for a, b in zip(expected, results, strict=True):
            limit = self.tolerance * np.abs(a).max()
            assert limit > 0, f"{self.title}: all results are 0"
            error = np.abs(a - b).max()
            assert error <= limit, f"{self.title}: an error of {error}, more than {limit}"


def module(app: str) -> Any:
    """Return the module of a mini-app."""
    return importlib.import_module(f"mini_apps.{app}")

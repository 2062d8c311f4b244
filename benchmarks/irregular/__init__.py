"""Irregular kernels: each in Python, and by hand in C with OpenMP and in CUDA C.

A case is a module with two texts beside it: ``sparse/spmv_csr.py``, ``spmv_csr.c`` and
``spmv_csr.cu``. The module has a kernel of the same name, and ``problem(scale)`` that returns its
arguments. The functions by hand take the kernel's arguments in order: an array as a pointer,
followed by its lengths as ``int``; an ``int`` or ``float32`` as ``int`` or ``float``.

``with_numba`` has some of the kernels as parallel loops for numba on the CPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Problem:
    """The arguments of a case, and how its results are compared.

    ``results``: positions of the arrays that it writes. ``canonical`` maps these arrays to others
    that do not depend on the order of threads. ``tolerance``: relative to the largest magnitude.
    """

    arguments: tuple[Any, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    results: tuple[int, ...]
    canonical: Callable[[Arrays], Arrays] = list
    tolerance: float = 1e-5


@dataclass(frozen=True)
class Case:
    """A case: its name and its folder."""

    name: str
    theme: str

    def problem(self, scale: int) -> Problem:
        """Return arguments for a CPU (scale 1), or larger ones."""
        problem: Problem = self._module().problem(scale)
        return problem

    @property
    def kernel(self) -> Any:
        return getattr(self._module(), self.name)

    def text(self, suffix: str) -> str:
        """Return the text by hand: ``.c`` or ``.cu``."""
        return (FOLDER / self.theme / f"{self.name}{suffix}").read_text()

    @property
    def numba_loop(self) -> Callable[..., object] | None:
        """Return the parallel loop for numba, if there is one and numba is installed."""
        try:
            module = importlib.import_module("irregular.with_numba")
        except ModuleNotFoundError:
            return None
        return getattr(module, self.name, None)

    def _module(self) -> Any:
        return importlib.import_module(f"irregular.{self.theme}.{self.name}")


def cases(names: Sequence[str] = ()) -> list[Case]:
    """Return the cases with these names; all without names."""
    files = sorted(FOLDER.glob("*/[a-z]*.py"))
    known = {file.stem: Case(file.stem, file.parent.name) for file in files}
    if unknown := set(names) - set(known):
        raise SystemExit(f"no cases {sorted(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names or known]


def blocks(threads: int, block: int = 256) -> int:
    """Return the number of blocks for a number of threads."""
    return -(-threads // block)

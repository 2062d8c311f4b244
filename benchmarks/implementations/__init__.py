"""The implementations that benchmarks/cpu.py compares.

The module of an implementation has ``prepare(task, option)``, which returns a ``Prepared``, or None
if it does not implement the case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cpu_cases import Case, Launch
from problems import Problem


class NotInstalled(Exception):
    """A package that an implementation requires is not installed."""


def no_copy() -> None:
    """Do nothing: the results are already in the arrays of the problem."""


@dataclass(frozen=True)
class Task:
    """A case of a size, with its arrays."""

    case: Case
    size: int
    problem: Problem

    @property
    def launch(self) -> Launch:
        return self.case.launch(self.size)


@dataclass(frozen=True)
class Prepared:
    """A synchronous call, and a function that copies the results to the arrays of the problem."""

    call: Callable[[], object]
    fetch: Callable[[], object] = no_copy


@dataclass(frozen=True)
class Implementation:
    """A module and its option; ``needs`` are the packages to install."""

    module: str
    option: str
    needs: str


_OPENCL = "implementations.with_opencl"
IMPLEMENTATIONS = {
    "hand-written": Implementation("implementations.with_c", "", "cffi"),
    "pycu2c": Implementation("implementations.with_pycu2c", "cpu", "pycu2c"),
    "numpy": Implementation("implementations.with_numpy", "", "numpy"),
    "numba": Implementation("implementations.with_numba", "", "numba"),
    "numba-fast": Implementation("implementations.with_numba", "fastmath", "numba"),
    "taichi": Implementation("implementations.with_taichi", "", "taichi"),
    "warp": Implementation("implementations.with_warp", "", "warp-lang"),
    "pocl": Implementation(_OPENCL, "PoCL", "pyopencl pocl-binary-distribution"),
    "intel": Implementation(_OPENCL, "Intel", "pyopencl intel-opencl-rt intel-cmplr-lib-rt"),
}

"""Who runs in benchmarks/cpu.py.

A contender's module has ``prepare(task, option)``, which returns a Prepared, or None where the
contender has no form of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cpu_rows import Launch, Row
from problems import Problem


class NotInstalled(Exception):
    """What a contender needs is not here."""


def nothing() -> None:
    """Results are in the problem's arrays already."""


@dataclass(frozen=True)
class Task:
    """A row at a size, with its arrays."""

    row: Row
    size: int
    problem: Problem

    @property
    def launch(self) -> Launch:
        return self.row.launch(self.size)


@dataclass(frozen=True)
class Prepared:
    """``call`` computes and has finished when it returns; ``fetch`` brings the results into the
    problem's arrays."""

    call: Callable[[], object]
    fetch: Callable[[], object] = nothing


@dataclass(frozen=True)
class Contender:
    """``option`` tells contenders of one module apart; ``needs`` is what has to be installed."""

    module: str
    option: str
    needs: str


_OPENCL = "contenders.with_opencl"
CONTENDERS = {
    "hand": Contender("contenders.hand_c", "", "cffi"),
    "pycu2c": Contender("contenders.ours", "cpu", "pycu2c"),
    "numpy": Contender("contenders.with_numpy", "", "numpy"),
    "numba": Contender("contenders.with_numba", "", "numba"),
    "numba-fast": Contender("contenders.with_numba", "fastmath", "numba"),
    "taichi": Contender("contenders.with_taichi", "", "taichi"),
    "warp": Contender("contenders.with_warp", "", "warp-lang"),
    "pocl": Contender(_OPENCL, "PoCL", "pyopencl pocl-binary-distribution"),
    "intel": Contender(_OPENCL, "Intel", "pyopencl intel-opencl-rt intel-cmplr-lib-rt"),
}

"""NVTX ranges named after kernels, around their launches, which the timelines of profilers show.

Launches then go the ordinary way, not by plans, and take some microseconds more.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.direct_launch import Direct
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Runner

_DOMAIN = "pycu2c"


def marked(runner: Runner, kernel: str) -> Runner:
    """The same kernel, with a range around each launch."""
    return MarkedRunner(runner, kernel, _ranges(kernel))


@dataclass(frozen=True, slots=True)
class MarkedRunner:
    inner: Runner
    kernel: str
    nvtx: Any

    @property
    def direct(self) -> Direct | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        with self.nvtx.annotate(self.kernel, domain=_DOMAIN):
            self.inner.run(launch, arguments)


def unmarked(runner: Runner) -> Runner:
    """The kernel without the ranges: what a graph notes is launched without Python."""
    return runner.inner if isinstance(runner, MarkedRunner) else runner


def _ranges(kernel: str) -> Any:
    try:
        return importlib.import_module("nvtx")
    except ImportError as error:
        raise LaunchError(
            f"{kernel}: PYCU2C_NVTX=1 asks for NVTX ranges, and the package nvtx is not installed: "
            "pip install nvtx"
        ) from error

"""Wrap launches in NVTX ranges named after kernels, for the timelines of profilers.

Such launches use the slow path, which takes some microseconds more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner

_DOMAIN = "pycu2c"


def with_nvtx_ranges(runner: Runner, kernel: str) -> Runner:
    """Return a runner that wraps each launch in a range."""
    return NvtxRunner(runner, kernel, _ranges(kernel))


@dataclass(frozen=True, slots=True)
class NvtxRunner:
    inner: Runner
    kernel: str
    nvtx: Any

    @property
    def fast_path(self) -> FastPathLaunch | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        with self.nvtx.annotate(self.kernel, domain=_DOMAIN):
            self.inner.run(launch, arguments)


def without_nvtx_ranges(runner: Runner) -> Runner:
    """Return the runner without ranges: captured graphs launch kernels without Python."""
    return runner.inner if isinstance(runner, NvtxRunner) else runner


def _ranges(kernel: str) -> Any:
    try:
        return import_module("nvtx")
    except ImportError as error:
        raise LaunchError(
            f"{kernel}: PYCU2C_NVTX=1 requires NVTX ranges, and the package nvtx is not installed: "
            "pip install nvtx"
        ) from error

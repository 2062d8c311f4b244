"""Wrap launches in NVTX ranges for the timelines of profilers, and in spans of a trace.

Such launches use the slow path, which takes some microseconds more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.errors import environment_switch
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.output import tracing
from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner

_DOMAIN = "pycu2c"


def with_ranges(runner: Runner, kernel: str) -> Runner:
    """Return a runner that wraps launches as PYCU2C_NVTX and PYCU2C_TRACE say."""
    if tracing.TRACE_FILE:
        runner = RangeRunner(runner, partial(tracing.span, "launch", kernel))
    if environment_switch("PYCU2C_NVTX"):
        annotate = _nvtx(kernel).annotate
        runner = RangeRunner(runner, partial(annotate, kernel, domain=_DOMAIN))
    return runner


@dataclass(frozen=True, slots=True)
class RangeRunner:
    """Runs each launch inside a context manager that ``begin`` returns."""

    inner: Runner
    begin: Callable[[], AbstractContextManager[Any]]

    @property
    def fast_path(self) -> FastPathLaunch | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        with self.begin():
            self.inner.run(launch, arguments)


def without_ranges(runner: Runner) -> Runner:
    """Return the runner without ranges: captured graphs launch kernels without Python."""
    while isinstance(runner, RangeRunner):
        runner = runner.inner
    return runner


def _nvtx(kernel: str) -> Any:
    try:
        return import_module("nvtx")
    except ImportError as error:
        raise LaunchError(
            f"{kernel}: PYCU2C_NVTX=1 requires NVTX ranges, and the package nvtx is not installed: "
            "pip install nvtx"
        ) from error

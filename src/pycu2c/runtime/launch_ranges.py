"""Wrap launches in NVTX ranges for the timelines of profilers, and in spans of a trace.

Such launches use the slow path, which takes some microseconds more.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.errors import environment_switch
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.output import tracing

_DOMAIN = "pycu2c"


def are_enabled() -> bool:
    """Return whether PYCU2C_NVTX or PYCU2C_TRACE requires a range of each launch."""
    return bool(tracing.TRACE_FILE) or environment_switch("PYCU2C_NVTX")


def launch_range(kernel: str) -> ExitStack:
    """Begin the ranges of a launch; the returned context manager ends them."""
    ranges = ExitStack()
    if tracing.TRACE_FILE:
        ranges.enter_context(tracing.span("launch", kernel))
    if environment_switch("PYCU2C_NVTX"):
        ranges.enter_context(_nvtx(kernel).annotate(kernel, domain=_DOMAIN))
    return ranges


def _nvtx(kernel: str) -> Any:
    try:
        return import_module("nvtx")
    except ImportError as error:
        raise LaunchError(
            f"{kernel}: PYCU2C_NVTX=1 requires NVTX ranges, and the package nvtx is not installed: "
            "pip install nvtx"
        ) from error

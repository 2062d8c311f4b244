"""Observers of launches: tools that wrap the runners of the kernels that are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycu2c.runtime.runner import Runner

# each returns a runner in place of that of a kernel (``kernels.specialization.Specialization``)
WRAPPERS: list[Callable[[Any, Runner], Runner]] = []

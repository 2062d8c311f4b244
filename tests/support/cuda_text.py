"""Where CUDA C is tested, and what its tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c.compat.cuda_text import TextModule
from pycu2c.cuda_driver import driver

ON_GPU = [pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []
MACHINES = ["cpu", *ON_GPU]  # backends


def launched(
    text: str,
    machine: str,
    *arguments: Any,
    grid: Any = 1,
    block: Any = 32,
    shared: int = 0,
    options: tuple[str, ...] = (),
    cooperative: bool = False,
) -> None:
    """Launch the kernel ``k`` of a text."""
    function = TextModule(text, backend=machine, options=options).function("k")
    function.launch(grid, block, arguments, shared, None, cooperative)


def given(text: str, machine: str, count: int, dtype: Any, *more: Any, **launch: Any) -> Any:
    """What a kernel ``k(out, …)`` puts into an array."""
    out = np.zeros(count, dtype)
    launched(text, machine, out, *more, **launch)
    return out

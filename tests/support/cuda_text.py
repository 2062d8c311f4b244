"""Launch kernels of CUDA C text on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c.compat.cuda_text import TextModule
from pycu2c.cuda_driver import driver

ON_GPU = [pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []
BACKENDS = ["cpu", *ON_GPU]  # backends


def launch(
    text: str,
    backend: str,
    *arguments: Any,
    grid: Any = 1,
    block: Any = 32,
    shared: int = 0,
    options: tuple[str, ...] = (),
    cooperative: bool = False,
) -> None:
    """Launch the kernel ``k`` of a text."""
    function = TextModule(text, backend=backend, options=options).function("k")
    function.launch(grid, block, arguments, shared, None, cooperative)


def output_of(text: str, backend: str, count: int, dtype: Any, *more: Any, **options: Any) -> Any:
    """Return the array that a kernel ``k(out, …)`` writes."""
    out = np.zeros(count, dtype)
    launch(text, backend, out, *more, **options)
    return out

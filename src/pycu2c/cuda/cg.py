"""Export cooperative groups: ``from pycu2c.cuda.cg import …``."""

from __future__ import annotations

from typing import Any

from pycu2c.ops.names.cuda_namespace import CUDA


def __dir__() -> list[str]:
    return dir(CUDA.cg)


def __getattr__(name: str) -> Any:
    return getattr(CUDA.cg, name)

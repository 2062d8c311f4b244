"""Export the functions of bfloat16: ``from pycu2c.cuda.bf16 import …``."""

from __future__ import annotations

from typing import Any

from pycu2c.ops.names.cuda_namespace import CUDA


def __dir__() -> list[str]:
    return dir(CUDA.bf16)


def __getattr__(name: str) -> Any:
    return getattr(CUDA.bf16, name)

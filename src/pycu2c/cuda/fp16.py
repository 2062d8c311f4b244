"""Export the functions of float16: ``from pycu2c.cuda.fp16 import …``."""

from __future__ import annotations

from typing import Any

from pycu2c.ops.names.cuda_namespace import CUDA


def __dir__() -> list[str]:
    return dir(CUDA.fp16)


def __getattr__(name: str) -> Any:
    return getattr(CUDA.fp16, name)

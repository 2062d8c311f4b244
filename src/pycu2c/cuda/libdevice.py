"""Export the functions of NVIDIA's libdevice: ``from pycu2c.cuda.libdevice import …``."""

from __future__ import annotations

from typing import Any

from pycu2c.ops.names.cuda_namespace import CUDA


def __dir__() -> list[str]:
    return dir(CUDA.libdevice)


def __getattr__(name: str) -> Any:
    return getattr(CUDA.libdevice, name)

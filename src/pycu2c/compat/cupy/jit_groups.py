"""Cooperative groups of ``cupyx.jit.cg``: those of ``pycu2c.cuda.cg``, and ``sync``."""

from __future__ import annotations

from typing import Any

from pycu2c.base.spelling_suggestions import UnknownNameError
from pycu2c.kernels.kernel import device
from pycu2c.ops.names.cuda_namespace import CUDA


@device
def sync(group: Any) -> None:
    """Wait until all threads of the group have reached the barrier."""
    group.sync()


def __dir__() -> list[str]:
    return sorted({*dir(CUDA.cg), "sync"})


def __getattr__(name: str) -> Any:
    if name in ("memcpy_async", "wait", "wait_prior"):
        raise UnknownNameError("cg", name, "write a loop over the elements, then group.sync()")
    return getattr(CUDA.cg, name)

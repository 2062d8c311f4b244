"""Make operators of PyTorch from kernels: ``pycu2c.torch.op``. Requires PyTorch."""

from __future__ import annotations

from pycu2c.torch.operator import op

__all__ = ["op"]

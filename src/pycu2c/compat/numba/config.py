"""``numba.config``: settings that programs read and set. Here nothing depends on them."""

from __future__ import annotations

from pycu2c.base.backends import hidden_by

ENABLE_CUDASIM = bool(hidden_by())  # whether kernels run on the CPU by the user's wish
DISABLE_JIT = False
CUDA_LOW_OCCUPANCY_WARNINGS = False
CUDA_WARN_ON_IMPLICIT_COPY = False
CUDA_DEBUGINFO_DEFAULT = False
CUDA_ARRAY_INTERFACE_SYNC = True

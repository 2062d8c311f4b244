"""Define ``numba.config``: settings that programs read and assign; they have no effect here."""

from __future__ import annotations

from pycu2c.base.backends import gpu_disabled_by

ENABLE_CUDASIM = bool(gpu_disabled_by())  # whether an environment variable selects the CPU
DISABLE_JIT = False
CUDA_LOW_OCCUPANCY_WARNINGS = False
CUDA_WARN_ON_IMPLICIT_COPY = False
CUDA_DEBUGINFO_DEFAULT = False
CUDA_ARRAY_INTERFACE_SYNC = True

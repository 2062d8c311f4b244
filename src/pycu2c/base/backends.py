"""Names of the back ends that run kernels, and their defaults from the environment.

This module is imported with the package, so it imports only ``os``.
"""

from __future__ import annotations

import os

CPU_BACKENDS = ("cpu", "cpu-resumable")
BACKENDS = ("auto", "cuda", *CPU_BACKENDS, "python")


def default_backend() -> str:
    """Return the back end of kernels that name none.

    Raises ValueError if ``PYCU2C_BACKEND`` names no back end.
    """
    name = os.environ.get("PYCU2C_BACKEND") or "auto"
    if name not in BACKENDS:
        raise ValueError(
            f"the environment variable PYCU2C_BACKEND is {name!r}, which is no backend: set it to "
            f"one of {', '.join(BACKENDS)}, or unset it"
        )
    return name


def gpu_disabled_by() -> str:
    """Return the environment setting that disables GPUs, or an empty string."""
    name = os.environ.get("PYCU2C_BACKEND", "")
    return f"PYCU2C_BACKEND={name}" if name in (*CPU_BACKENDS, "python") else ""

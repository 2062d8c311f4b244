"""Names of the back ends that run kernels, and their defaults from the environment.

This module is imported with the package, so it imports little.
"""

from __future__ import annotations

import os

from pycu2c.base.errors import environment_setting

CPU_BACKENDS = ("cpu", "cpu-resumable")
BACKENDS = ("auto", "cuda", *CPU_BACKENDS, "python")


def default_backend() -> str:
    """Return the back end of kernels that name none.

    Raises EnvironmentVariableError if ``PYCU2C_BACKEND`` names no back end.
    """
    allowed = f"one of {', '.join(BACKENDS)}"
    return environment_setting("PYCU2C_BACKEND", _parse_backend, allowed, "auto")


def _parse_backend(name: str) -> str:
    return BACKENDS[BACKENDS.index(name)]


def gpu_disabled_by() -> str:
    """Return the environment setting that disables GPUs, or an empty string."""
    name = os.environ.get("PYCU2C_BACKEND", "")
    return f"PYCU2C_BACKEND={name}" if name in (*CPU_BACKENDS, "python") else ""

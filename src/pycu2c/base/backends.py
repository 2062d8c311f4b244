"""The names of what runs kernels. Light: it is imported with the package."""

from __future__ import annotations

import os

CPU_BACKENDS = ("cpu", "cpu-resumable")  # backends
BACKENDS = ("auto", "cuda", *CPU_BACKENDS, "python")


def default_backend() -> str:
    """Where kernels run that do not say it. Raises ValueError for what is no backend."""
    said = os.environ.get("PYCU2C_BACKEND") or "auto"
    if said not in BACKENDS:
        raise ValueError(
            f"the environment variable PYCU2C_BACKEND is {said!r}, which is no backend: set it to "
            f"one of {', '.join(BACKENDS)}, or unset it"
        )
    return said


def gpu_disabled_by() -> str:
    """What in the environment says that GPUs are left alone; empty if nothing does."""
    wanted = os.environ.get("PYCU2C_BACKEND", "")
    return f"PYCU2C_BACKEND={wanted}" if wanted in (*CPU_BACKENDS, "python") else ""
